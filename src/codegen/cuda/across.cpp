// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/across.cpp — ops that move data between elements, the plain way: operands are in
// shared memory, and every thread takes what it needs from there.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

void Emitter::across_step(const Step& step) {
  switch (ir::across_op(step.op->kind)) {
    case ir::AcrossOp::Dot:
      return emit_dot(step);
    case ir::AcrossOp::ReadBuffer:
      return emit_read_buffer(*step.op);
    case ir::AcrossOp::Gather:
      return emit_gather(step);
    case ir::AcrossOp::Concatenate:
      return emit_concatenate(step);
    case ir::AcrossOp::Scan:
      return emit_scan(step);
    case ir::AcrossOp::Sort:
      return emit_sort(step);
    case ir::AcrossOp::Histogram:
      return emit_histogram(step);
    case ir::AcrossOp::Print:
      return emit_print(step);
  }
}

void Emitter::for_each_result(const Step& step, const std::function<std::string(Frame&)>& make) {
  const ir::Value result = step.op->result();
  declare_array(result);
  ElementLoop loop = make_loop(step, layouts_.of_array(result));
  Frame anywhere = loop.frame;
  anywhere.layout = nullptr;
  std::vector<ir::Value> operands = step.op->operands;
  note_line(step.op->location);
  synchronize(anywhere, reads_of(kernel_, schedule_, step, operands), {result});
  open_slices(loop);
  open_vectors(loop);
  open_elements(loop);
  Frame& frame = loop.frame;
  const std::string value = make(frame);
  const bool is_shared = layouts_.is_shared(result);
  const std::string index = array_index(frame, result, frame.place);
  const std::string owner = is_shared ? owner_text(*frame.layout) : "";
  out_.format("{}{}[{}] = {};", owner.empty() ? "" : "if (" + owner + ") ", array_name(result),
              index, value);
  close_elements(loop);
  close_vectors(loop);
  close_slices(loop);
}

void Emitter::emit_gather(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Type& source = kernel_.type(op.operands[0]);
  const ir::Type& result = kernel_.type(op.result());
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  for_each_result(step, [&](Frame& frame) {
    const std::string at = names_.make("at");
    out_.format("const i32 {} = i32({});", at, element(frame, op.operands[1], frame.place));
    // The place along the axis comes from the index; it is a variable like those of the loops.
    Frame within = frame;
    within.index_from = 0;
    within.scopes.emplace_back();
    const int bits = source.log_sizes[axis];
    within.space.variables.insert(within.space.variables.begin(), {at, bits});
    std::vector<std::uint64_t> columns;
    const int low = first_bit(sizes_of(source), static_cast<int>(axis));
    for (int j = 0; j < bits; ++j) columns.push_back(std::uint64_t{1} << (low + j));
    const int result_low = first_bit(sizes_of(result), static_cast<int>(axis));
    const int result_high = result_low + result.log_sizes[axis];
    for (std::uint64_t column : frame.place.matrix.all_columns()) {
      const std::uint64_t below = column & ((std::uint64_t{1} << result_low) - 1);
      const std::uint64_t above = column >> result_high;
      columns.push_back(below | above << (low + bits));
    }
    return element(within, op.operands[0],
                   {BitMatrix(bits_of_type(source), std::move(columns)), 0});
  });
}

void Emitter::emit_concatenate(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Type& part = kernel_.type(op.operands[0]);
  const ir::Type& result = kernel_.type(op.result());
  const int axis = static_cast<int>(op.integer("axis"));
  const int bit =
      first_bit(sizes_of(result), axis) + part.log_sizes[static_cast<std::size_t>(axis)];
  for_each_result(step, [&](Frame& frame) {
    std::vector<std::uint64_t> which;
    std::vector<std::uint64_t> rest;
    for (std::uint64_t column : frame.place.matrix.all_columns()) {
      which.push_back(column >> bit & 1);
      rest.push_back((column & ((std::uint64_t{1} << bit) - 1)) | column >> (bit + 1) << bit);
    }
    const std::string half = index_text(frame, {BitMatrix(1, std::move(which)), 0});
    const Place place{BitMatrix(bits_of_type(part), std::move(rest)), 0};
    const std::string first = element(frame, op.operands[0], place);
    const std::string second = element(frame, op.operands[1], place);
    return fmt::format("{} == 0 ? {} : {}", atom(half), first, second);
  });
}

// Elements change threads through an array in shared memory, of which each takes consecutive ones.
void Emitter::emit_sort(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Type& type = kernel_.type(op.result());
  const std::string runs = names_.make("runs_shared");
  shared_.add(runs, type_of(op.result()), type.numel(), scratch_of(op), loop_depth_ > 0);
  parts_.insert({"reduce", "sort"});
  note_line(op.location);
  if (shared_.write_needs_barrier(runs)) barrier();
  const std::string sizes =
      fmt::format("{}, {}", bits_of_type(type), std::countr_zero(static_cast<unsigned>(threads_)));
  const auto at = [&](Frame& frame) {
    return fmt::format("{}[tw::sort_place<{}>({})]", runs, sizes, index_text(frame, frame.place));
  };
  ElementLoop loop = make_loop(step, layouts_.of_array(op.result()));
  synchronize(loop.frame, reads_of(kernel_, schedule_, step, op.operands), {});
  open_slices(loop);
  open_vectors(loop);
  open_elements(loop);
  const std::string owner = owner_text(*loop.frame.layout);
  const std::string value = element(loop.frame, op.operands[0], loop.frame.place);
  out_.format("{}{} = {};", owner.empty() ? "" : "if (" + owner + ") ", at(loop.frame), value);
  close_elements(loop);
  close_vectors(loop);
  close_slices(loop);
  shared_.note_write(runs);
  barrier();
  out_.format("tw::merge_runs<{}, {}, tw::SortOrder::{}, {}>({});", op.integer("first"),
              op.integer("last"), op.text("order"), sizes, runs);
  for_each_result(step, at);
  shared_.note_read(runs);
}

// Counted in shared memory by atomics, then read by whoever holds the element.
void Emitter::emit_histogram(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Type& values = kernel_.type(op.operands[0]);
  const std::int64_t bins = kernel_.type(op.result()).numel();
  const std::string counts = names_.make("counts_shared");
  shared_.add(counts, "i32", bins, scratch_of(op), loop_depth_ > 0);
  note_line(op.location);
  if (shared_.write_needs_barrier(counts)) barrier();
  out_.format("for (int k = thread; k < {}; k += {}) {}[k] = 0;", bins, threads_, counts);
  barrier();
  Frame frame{.step = &step};
  synchronize(frame, reads_of(kernel_, schedule_, step, op.operands), {});
  const std::string e = names_.make("e");
  out_.open(
      fmt::format("for (int {0} = thread; {0} < {1}; {0} += {2})", e, values.numel(), threads_));
  frame.space.variables = {{e, bits_of_type(values)}};
  frame.place = IndexMap::identity(bits_of_type(values));
  const std::string bin = names_.make("bin");
  out_.format("const i64 {} = i64({});", bin, element(frame, op.operands[0], frame.place));
  std::string condition = fmt::format("{0} >= 0 && {0} < {1}", bin, bins);
  if (op.operands.size() > 1)
    condition += " && " + atom(element(frame, op.operands[1], frame.place));
  out_.format("if ({}) atomicAdd(&{}[{}], 1);", condition, counts, bin);
  out_.close();
  barrier();
  for_each_result(step, [&](Frame& result) {
    return fmt::format("{}({}[{}])", type_of(op.result()), counts,
                       index_text(result, result.place));
  });
  shared_.note_read(counts);
}

void Emitter::emit_print(const Step& step) {
  const ir::Op& op = *step.op;
  note_line(op.location);
  Frame frame{.step = &step};
  synchronize(frame, reads_of(kernel_, schedule_, step, op.operands), {});
  out_.open("if (thread == 0)");
  for (ir::Value value : op.operands) {
    const ir::Type& type = kernel_.type(value);
    if (!type.is_tile()) {
      out_.line(print_call(op, value, "", scalar(value)));
      continue;
    }
    const std::string e = names_.make("e");
    out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", e, type.numel()));
    frame.scopes.emplace_back();
    frame.space.variables = {{e, bits_of_type(type)}};
    frame.place = IndexMap::identity(bits_of_type(type));
    out_.line(print_call(op, value, e, element(frame, value, frame.place)));
    frame.scopes.pop_back();
    out_.close();
  }
  out_.close();
}

}  // namespace tilewright
