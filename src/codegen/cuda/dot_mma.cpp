// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/dot_mma.cpp — matrix products by tensor cores: operands come in whole matrices from
// shared memory where they lie in rows of 16 bytes, else word by word from wherever they are.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

}  // namespace

// ---- Operands

Emitter::DotOperand Emitter::dot_operand(const Step& step, bool is_left) {
  DotOperand out = operand_of(step, is_left);
  out.part = names_.make(kernel_.name_of(out.value) + "_part", is_left ? "left" : "right");
  return out;
}

// Returns what writes the reading of one step's words.
std::function<void()> Emitter::prepare_operand(const Step& step, const DotOperand& operand,
                                               const DotLoops& loops) {
  const std::optional<MatrixView> from = matrix_view(step, operand);
  if (!from) return [this, &step, &operand, &loops] { collect_words(step, operand, loops); };
  const MatrixReads reads = prepare_matrices(operand, *from);
  const std::string array = array_name(from->view.array);
  return [=, this, &operand, &loops] { read_matrices(reads, array, operand.part, &loops); };
}

Emitter::MatrixReads Emitter::prepare_matrices(const DotOperand& operand, const MatrixView& from) {
  const MatrixPlan plan = plan_matrices(operand, from);
  MatrixReads out{.image = plan.image, .by_loops = plan.by_loops, .log_matrices = plan.log_matrices};
  out.function = fmt::format("load_matrices{}<{}>", from.is_transposed ? "_transposed" : "",
                             1 << out.log_matrices);
  if (from.has_bytes)
    out.function = fmt::format("load_bytes_transposed<{}>", operand.is_left ? 1 : 2);
  const Space thread{{{"thread", operand.layout->thread_bits()}}};
  out.at = names_.make(kernel_.name_of(from.view.array) + "_at", "at");
  out_.format("const i32 {} = {};", out.at, bare(linear_text(thread, plan.by_thread)));
  out.call = {names_.make("i"), plan.log_calls};
  return out;
}

void Emitter::read_matrices(const MatrixReads& reads, const std::string& array,
                            const std::string& part, const DotLoops* loops) {
  Space space{{reads.call}};
  if (loops) space.variables.insert(space.variables.end(), {loops->step, loops->batch});
  const auto all = reads.by_loops.matrix.all_columns();
  const std::vector<std::uint64_t> columns(all.begin(), all.begin() + space.bits());
  const IndexMap by_loops{BitMatrix(reads.by_loops.matrix.rows(), columns), 0};
  open_unrolled(reads.call);
  const std::string into =
      sum_text(part, reads.call.bits == 0
                         ? "0"
                         : fmt::format("{} * {}", reads.call.name, 1 << reads.log_matrices));
  out_.format("tw::{}({}, {});", reads.function, into,
              sum_text(array, added_text(reads.at, reads.image, space, by_loops)));
  close_unrolled(reads.call);
}

void Emitter::collect_words(const Step& step, const DotOperand& operand, const DotLoops& loops) {
  const Layout& layout = *operand.layout;
  const SpaceVariable word{names_.make("i"), operand.log_words + operand.log_tiles};
  Frame frame{.step = &step, .layout = &layout};
  frame.space.variables = {word, loops.step, loops.batch, {"thread", layout.thread_bits()}};
  std::vector<std::uint64_t> columns;
  for (int j = operand.log_word; j < layout.registers().columns(); ++j)
    columns.push_back(layout.registers().column(j));
  const BitMatrix threads = layout.thread_matrix();
  columns.insert(columns.end(), threads.all_columns().begin(), threads.all_columns().end());
  const BitMatrix matrix(layout.element_bits(), std::move(columns));
  const ir::Type from = kernel_.type(operand.value).element();
  const ir::Type to = ir::Type::scalar(operand.dtype);
  const std::string target = fmt::format("{}[{}]", operand.part, word.bits > 0 ? word.name : "0");
  open_unrolled(word);
  if (has_words(step, operand)) {
    out_.format("{} = tw::word_at({});", target,
                sum_text(array_name(operand.value), array_index(frame, operand.value, {matrix, 0})));
    return close_unrolled(word);
  }
  std::vector<std::string> elements;
  for (std::uint64_t i = 0; i < bit(operand.log_word); ++i) {
    const std::string text = element(frame, operand.value, {matrix, layout.registers()(i)});
    elements.push_back(bare(cast_text(from, to, text, "")));
  }
  if (operand.dtype == DType::Float64) out_.format("{} = {};", target, elements[0]);
  else out_.format("{} = tw::word_of({});", target, fmt::join(elements, ", "));
  close_unrolled(word);
}

// ---- The product

void Emitter::emit_mma(const Step& step, const Sums& sums) {
  parts_.insert("mma");
  const DotPlan& plan = layouts_.plan_of(*step.op);
  DotOperand left = dot_operand(step, true);
  DotOperand right = dot_operand(step, false);
  const int log_sums = 1 + plan.shape.log_rows - 3;  // of one instruction
  const int batches =
      plan.layouts.result.registers().columns() - log_sums - left.log_tiles - right.log_tiles;
  const DotLoops loops{{names_.make("step"), plan.sizes.depth - plan.shape.log_depth},
                       {names_.make("batch"), batches}};
  std::vector<std::function<void()>> reads;
  for (DotOperand* operand : {&left, &right}) {
    const auto held = held_.find({step.op, operand->is_left});
    if (held != held_.end()) operand->part = step_part(held->second, loops.step);
    else reads.push_back(prepare_operand(step, *operand, loops));
  }
  open_unrolled(loops.batch);
  open_unrolled(loops.step);
  for (const DotOperand* operand : {&left, &right})
    if (!held_.contains({step.op, operand->is_left}))
      out_.format("{} {}[{}];", operand->dtype == DType::Float64 ? "f64" : "u32", operand->part,
                  1 << (operand->log_words + operand->log_tiles));
  for (const std::function<void()>& read : reads) read();
  const bool weaves = ahead_ && ahead_->dot == &step;
  for (std::size_t i = 0; weaves && i < ahead_->woven.size(); ++i)
    weave(ahead_->woven[i], loops.step, 0);
  multiply_parts(plan, sums.name, left, right, loops.batch);
  close_unrolled(loops.step);
  close_unrolled(loops.batch);
  if (weaves) emit_commit(*ahead_->commit->op);
}

void Emitter::multiply_parts(const DotPlan& plan, const std::string& sums, const DotOperand& left,
                             const DotOperand& right, const SpaceVariable& batch) {
  const SpaceVariable row{names_.make("row"), left.log_tiles};
  const SpaceVariable column{names_.make("column"), right.log_tiles};
  const int log_sums = 1 + plan.shape.log_rows - 3;  // of one instruction
  open_unrolled(row);
  open_unrolled(column);
  out_.format("tw::{}({}, {}, {});", plan.instruction,
              part_text(sums, {{column, row, batch}}, log_sums),
              part_text(left.part, {{row}}, left.log_words),
              part_text(right.part, {{column}}, right.log_words));
  close_unrolled(column);
  close_unrolled(row);
}

}  // namespace tilewright
