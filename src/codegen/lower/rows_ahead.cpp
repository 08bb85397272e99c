// SPDX-License-Identifier: Apache-2.0
// codegen/lower/rows_ahead.cpp — rows that the next program will read, asked for while this one
// computes. A program that goes over its row several times (a softmax, a norm) leaves the
// memory idle except in its first and its last loop; the processor's own prefetcher does not know
// of the next row.
#include <algorithm>

#include "codegen/lower/row_facts.h"
#include "ir/analysis/same_value.h"
#include "passes/axis_info.h"

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

// Whether the row that `store` writes begins where a cache line does, as far as can be known. Parts
// of any other row end within lines, which are then written twice.
bool begins_at_line(const ir::Kernel& kernel, const ir::Op& store) {
  constexpr std::int64_t known_alignment = 16;
  const ir::Op* pointer = kernel.maker(store.operands[0]);
  return pointer && pointer->kind == OpKind::Affine &&
         AxisAnalysis(kernel).is_multiple(pointer->operands[0], known_alignment);
}

}  // namespace

std::optional<Growth> RowFacts::growth_of(ir::Value value) const {
  int budget = 64;  // longer formulas are not worth it
  return growth_of(value, budget);
}

// None: not known.
std::optional<Growth> RowFacts::growth_of(ir::Value value, int& budget) const {
  const Growth stays{.stays = true};
  if (--budget < 0) return std::nullopt;
  const ir::Op* op = kernel_.maker(value);
  if (!op) {
    const auto is_value = [&](const ir::KernelArgument& argument) {
      return argument.value == value;
    };
    const bool is_argument =
        std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(), is_value);
    return is_argument ? std::optional(stays) : std::nullopt;
  }
  if (op->kind == OpKind::ProgramId) return op->integer("axis") == 0 ? Growth{} : stays;
  if (!op->regions.empty()) return std::nullopt;
  std::vector<Growth> parts;
  for (const ir::Value operand : op->operands) {
    const std::optional<Growth> part = growth_of(operand, budget);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  if (std::all_of(parts.begin(), parts.end(), [](const Growth& part) { return part.stays; }))
    return stays;
  if (op->kind == OpKind::Cast || op->kind == OpKind::Hint) return parts[0];
  if (op->kind == OpKind::Add || op->kind == OpKind::Offset) {
    if (parts[0].stays || parts[1].stays) return parts[parts[0].stays ? 1 : 0];
    return Growth{.terms = parts};
  }
  const std::size_t grows = !parts.empty() && parts[0].stays ? 1 : 0;
  if (op->kind != OpKind::Multiply || !parts[1 - grows].stays) return std::nullopt;
  const Growth& grown = parts[grows];
  const bool is_one = grown.terms.empty() && !grown.factor;
  return Growth{.terms = is_one ? std::vector<Growth>{} : std::vector{grown},
                .factor = op->operands[1 - grows]};
}

// The pointers of rows of this length that a program reads, each once.
std::vector<const ir::Op*> RowFacts::rows_to_read(const Type& row) const {
  std::vector<const ir::Op*> rows, loads;
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
    if (pointer && pointer->kind == OpKind::Affine && constant(pointer->operands[1]) == 1)
      rows.push_back(pointer);
  }
  return rows;
}

// The store of a program's row that may go around the caches; null: there is none.
const ir::Op* RowFacts::large_result(const Type& row) const {
  for (const ir::Op* op : outermost_ops(kernel_))
    if (op->kind == OpKind::Store && is_row_of(kernel_.type(op->operands[1]), row) &&
        streamed_arguments_.contains(argument_of(*op).id))
      return op;
  return nullptr;
}

// The loop that fills an array for later ones computes the most, and the memory has nothing to do
// meanwhile; without such a loop it is the one that writes the result.
bool RowFacts::may_read_ahead(const NestShape& nest) const {
  const Step& step = *nest.step;
  if (deferred_.step) return &step == deferred_.meanwhile;
  const Steps& outermost = schedule_.steps();
  const auto is_step = [&](const Step& one) { return &one == &step; };
  const auto writes = [&](const ir::Op* op) { return is_streamed(nest, *op); };
  return is_simd(step) && nest.loops.size() == 1 && has_reduction_of(kernel_, nest.shape) &&
         (!step.kept.empty() || std::any_of(step.ops.begin(), step.ops.end(), writes)) &&
         large_result(nest.shape) && std::any_of(outermost.begin(), outermost.end(), is_step);
}

int RowFacts::block_beside_rows(const NestShape& nest, const ir::Op& result) const {
  if (!nest.step->kept.empty()) return block_of_filling;
  return begins_at_line(kernel_, result) ? block_of_writing : elements_of_block;
}

}  // namespace tilewright
