// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/rows_ahead.cpp — rows that the next program will read, asked for while this one
// computes. A program that goes over its row several times (a softmax, a norm) leaves the
// memory idle except in its first and its last loop; the processor's own prefetcher does not know
// of the next row.
#include <algorithm>

#include "codegen/cpu/program.h"
#include "ir/analysis/same_value.h"
#include "passes/axis_info.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Elements between two requests: as many as the memory should get at once. A loop that computes
// more of each gives it more time.
constexpr int block_of_filling = 512;
constexpr int block_of_writing = 256;

bool is_row_of(const Type& type, const Type& row) {
  return type.rank == 1 && row.rank == 1 && type.size(0) == row.size(0);
}

// Of sweeps that stand in no loop or branch.
std::vector<const ir::Op*> outermost_ops(const ir::Kernel& kernel) {
  std::vector<const ir::Op*> ops;
  for (const ir::Op* op : kernel.body.ops)
    if (op->kind == OpKind::Sweep)
      ops.insert(ops.end(), op->regions[0].ops.begin(), op->regions[0].ops.end());
  return ops;
}

// A program without a reduction reads its row in the loop that writes the result.
bool has_reduction_of(const ir::Kernel& kernel, const Type& row) {
  const std::vector<const ir::Op*> ops = outermost_ops(kernel);
  return std::any_of(ops.begin(), ops.end(), [&](const ir::Op* op) {
    return op->kind == OpKind::Reduce && is_row_of(kernel.type(op->operands[0]), row);
  });
}

}  // namespace

// Whether a scalar has its text already: where the loop stands, later ones have none.
bool ProgramWriter::is_written(ir::Value scalar) const {
  return texts_.contains(scalar.id) || constant_value(scalar);
}

// What a scalar or pointer grows by from one program to the next along x, as text; empty: it stays;
// none: not known.
std::optional<std::string> ProgramWriter::growth(ir::Value value) {
  const ir::Op* op = kernel_.maker(value);
  if (!op) {
    const auto is_value = [&](const ir::KernelArgument& argument) {
      return argument.value == value;
    };
    const bool is_argument =
        std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(), is_value);
    return is_argument ? std::optional<std::string>("") : std::nullopt;
  }
  if (op->kind == OpKind::ProgramId) return op->integer("axis") == 0 ? "1" : "";
  if (!op->regions.empty()) return std::nullopt;
  std::vector<std::string> parts;
  for (const ir::Value operand : op->operands) {
    const std::optional<std::string> part = growth(operand);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  if (std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); }))
    return "";
  if (op->kind == OpKind::Cast || op->kind == OpKind::Hint) return parts[0];
  if (op->kind == OpKind::Add || op->kind == OpKind::Offset) {
    if (parts[0].empty() || parts[1].empty()) return parts[0] + parts[1];
    return fmt::format("{} + {}", parts[0], parts[1]);
  }
  if (op->kind != OpKind::Multiply) return std::nullopt;
  const std::size_t grows = parts[0].empty() ? 1 : 0;
  const ir::Value by = op->operands[1 - grows];
  if (!parts[1 - grows].empty() || !is_written(by)) return std::nullopt;
  const std::string factor = atom(text(by));
  return parts[grows] == "1" ? factor : fmt::format("{} * {}", atom(parts[grows]), factor);
}

// Where the next program's rows of this length begin.
std::vector<std::string> ProgramWriter::next_rows(const Type& row) {
  std::vector<std::string> rows;
  std::vector<const ir::Op*> loads;
  const auto is_known = [&](const ir::Op* load) {
    return std::any_of(loads.begin(), loads.end(), [&](const ir::Op* before) {
      return (schedule_.is_repeat(*load) || schedule_.is_repeat(*before)) &&
             ir::is_same_op(kernel_, *before, *load);
    });
  };
  for (const ir::Op* op : outermost_ops(kernel_)) {
    if (op->kind != OpKind::Load || !is_row_of(kernel_.type(op->operands[0]), row)) continue;
    if (is_known(op)) continue;
    loads.push_back(op);
    const ir::Op* pointer = kernel_.maker(op->operands[0]);
    if (!pointer || pointer->kind != OpKind::Affine || constant(pointer->operands[1]) != 1)
      continue;
    const std::optional<std::string> step = growth(pointer->operands[0]);
    if (!step || step->empty() || !is_written(pointer->operands[0])) continue;
    rows.push_back(fmt::format("{} + {}", text(pointer->operands[0]), *step));
  }
  return rows;
}

// The store of a program's row that may go around the caches; null: there is none.
const ir::Op* ProgramWriter::large_result(const Type& row) const {
  for (const ir::Op* op : outermost_ops(kernel_))
    if (op->kind == OpKind::Store && is_row_of(kernel_.type(op->operands[1]), row) &&
        streamed_arguments_.contains(argument_of(*op).id))
      return op;
  return nullptr;
}

// The loop that fills an array for later ones computes the most, and the memory has nothing to do
// meanwhile; without such a loop it is the one that writes the result.
void ProgramWriter::find_rows_ahead(Nest& nest) {
  const Step& step = *nest.step;
  if (late_.step) {
    if (&step == late_.meanwhile) nest.ahead = next_rows(nest.shape);
    return;
  }
  const Steps& outermost = schedule_.steps();
  const bool is_at_top = std::any_of(outermost.begin(), outermost.end(),
                                     [&](const Step& one) { return &one == &step; });
  const auto writes = [&](const ir::Op* op) { return is_streamed(nest, *op); };
  if (has_fetched_ahead_ || !is_simd(step) || nest.loops.size() != 1 ||
      !has_reduction_of(kernel_, nest.shape))
    return;
  const bool fills = !step.kept.empty();
  const bool ends = std::any_of(step.ops.begin(), step.ops.end(), writes);
  const ir::Op* result = large_result(nest.shape);
  if (!result || !(fills || ends) || !is_at_top) return;
  nest.ahead = next_rows(nest.shape);
  if (nest.ahead.empty()) return;
  has_fetched_ahead_ = true;
  count_streamed(*result);
  if (fills) nest.block_size = block_of_filling;
  else if (begins_at_line(*result)) nest.block_size = block_of_writing;
}

void ProgramWriter::fetch_ahead(const Nest& nest, const Part& part, const std::string& first,
                                const std::string& last) {
  if (!part.range.holds.value_or(true)) return;
  const bool is_whole = first == "0";
  for (const std::string& row : nest.ahead)
    out_.format("if (streams) tw::fetch_ahead({}, {});",
                is_whole ? row : fmt::format("{} + {}", row, first),
                is_whole ? last : fmt::format("{} - {}", last, first));
}

// Whether the row that `store` writes begins where a cache line does, as far as can be known. Parts
// of any other row end within lines, which are then written twice.
bool ProgramWriter::begins_at_line(const ir::Op& store) const {
  constexpr std::int64_t known_alignment = 16;
  const ir::Op* pointer = kernel_.maker(store.operands[0]);
  return pointer && pointer->kind == OpKind::Affine &&
         AxisAnalysis(kernel_).is_multiple(pointer->operands[0], known_alignment);
}

}  // namespace tilewright
