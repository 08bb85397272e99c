// SPDX-License-Identifier: Apache-2.0
// codegen/lower/row_facts.cpp — which loops along rows are calls of the library
// (device_lib/cpu/rows.h), and which row is left to the next program.
//
// Loops that only add floats (a mean, a variance) are tw::sum, which adds to several sums by turns:
// one alone waits for each addition. Programs that leave their row to the next one have more of
// them.
#include "codegen/lower/row_facts.h"

#include <algorithm>

#include "codegen/lower/reduction_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Shorter rows are not worth it.
constexpr std::int64_t shortest_row = 256;
// Longer terms keep the processor busy as they are, and take the compiler four times as long.
constexpr std::size_t most_ops = 16;
// Shorter rows are over before anything could be done beside them.
constexpr std::int64_t shortest_deferred_row = 256;

// Whether a reduction combines by that op alone, and a NaN has no say in it.
bool is_plain(const ReductionShape& reduction, OpKind kind) {
  const ir::Op* only = reduction.only;
  return only && only->kind == kind && only->text("nan") != "propagate";
}

NestShape shape_of(const Step& step, const std::vector<int>& axes) {
  NestShape nest{.step = &step, .shape = step.shape, .loops = loops_over(step.shape, axes)};
  for (const Loop& loop : nest.loops) nest.is_merged |= loop.size > step.shape.size(loop.first);
  return nest;
}

}  // namespace

bool is_costly(const ir::Op& op) { return op.facts().flops > 0 && op.facts().cost >= 4; }

RowFacts::RowFacts(const ir::Kernel& kernel, const Sweeps& schedule) : NestFacts(kernel, schedule) {
  find_deferred();
  // Rows of the program before are written at any time.
  if (!deferred_.step) find_in_place(kernel.body);
}

// ---- Reductions

std::vector<ReductionShape> RowFacts::reductions_of(const Step& step, const NestShape& nest) const {
  std::vector<ReductionShape> out;
  for (const ir::Op* op : step.reductions) {
    ReductionShape reduction{.op = op, .only = only_op(*op)};
    const Type type = kernel_.type(op->operands[0]).element();
    const auto axis = static_cast<int>(op->integer("axis"));
    for (int k = 0; k < nest.depth(); ++k) {
      const Loop& loop = nest.loops[static_cast<std::size_t>(k)];
      if (loop.first <= axis && axis < loop.last) reduction.axis_loop = k;
    }
    reduction.is_inner = reduction.axis_loop >= 0 && reduction.axis_loop == nest.depth() - 1;
    if (reduction.only) {
      reduction.has_identity = identity_of(*reduction.only, type).has_value();
      reduction.clause = clause_of(*reduction.only, type);
    }
    // One element along the axis is the result.
    if (reduction.axis_loop < 0) reduction.has_identity = true;
    out.push_back(reduction);
  }
  return out;
}

// Small floats add up as f32 and are rounded once. Sums of f32 along a loop that may stay scalar
// would be added one after another, while those of a vector loop have a partial sum per lane: there
// f64 costs nothing and loses nothing.
void RowFacts::widen_sum(const NestShape& nest, ReductionShape& reduction) const {
  const Type type = kernel_.type(reduction.op->operands[0]).element();
  if (!reduction.only || reduction.only->kind != OpKind::Add || !type.is_float() ||
      reduction.axis_loop < 0)
    return;
  if (size_of(type.dtype) < 4) reduction.wide = Type::scalar(DType::Float32);
  else if (type.dtype == DType::Float32 && reduction.is_inner && !surely_vectorises(nest))
    reduction.wide = Type::scalar(DType::Float64);
  if (reduction.wide) reduction.clause = clause_of(*reduction.only, *reduction.wide);
}

// Sums of floats over so many elements that they are taken block by block: as exact as on a GPU,
// where each thread sums a few.
bool RowFacts::is_long_sum(const NestShape& nest, const ReductionShape& reduction) const {
  const Type type = reduction.wide.value_or(kernel_.type(reduction.op->result()).element());
  const bool is_exact = reduction.wide && type.dtype == DType::Float64;
  return reduction.is_inner && !is_exact && reduction.only && reduction.only->kind == OpKind::Add &&
         !reduction.clause.empty() && type.is_float() &&
         nest.loops.back().size > 2 * elements_of_block;
}

bool RowFacts::is_light(const NestShape& nest, ir::Value value,
                        std::set<std::uint32_t>& seen) const {
  const ir::Op* op = met_first(nest, value, seen);
  if (!op) return true;
  const bool is_long = is_costly(*op) || seen.size() > most_ops;
  return !is_long && std::all_of(op->operands.begin(), op->operands.end(),
                                 [&](ir::Value operand) { return is_light(nest, operand, seen); });
}

bool RowFacts::only_reads(const Step& step) const {
  return std::none_of(step.ops.begin(), step.ops.end(),
                      [](const ir::Op* op) { return op->facts().has(ir::Writes); });
}

bool RowFacts::is_plain_sum(const NestShape& nest, const ReductionShape* reduction) const {
  const Step& step = *nest.step;
  if (!reduction || !step.kept.empty() || nest.loops.empty()) return false;
  const Type own = kernel_.type(reduction->op->operands[0]).element();
  const Type type = reduction->wide.value_or(own);
  const bool is_exact = reduction->wide && type.dtype == DType::Float64;
  std::set<std::uint32_t> seen;
  return reduction->is_inner && reduction->only && reduction->only->kind == OpKind::Add &&
         type.is_float() && !is_exact && size_of(type.dtype) >= 4 &&
         nest.loops.back().size >= shortest_row && surely_vectorises(nest) && only_reads(step) &&
         is_light(nest, reduction->op->operands[0], seen);
}

bool RowFacts::reads_array(const Step& step, ir::Value value, ir::Value array,
                           std::set<std::uint32_t>& seen) const {
  if (!seen.insert(value.id).second || kernel_.type(value).is_scalar()) return false;
  if (schedule_.is_in_array(value, step))
    return schedule_.storage(value) == schedule_.storage(array);
  const ir::Op* op = kernel_.maker(value);
  return op && std::any_of(op->operands.begin(), op->operands.end(), [&](ir::Value operand) {
           return reads_array(step, operand, array, seen);
         });
}

// A sum of f32 whose terms are kept for later, and that does nothing else.
bool RowFacts::is_kept_sum(const NestShape& nest, const ReductionShape* reduction) const {
  const Step& step = *nest.step;
  if (!reduction || step.kept.size() != 1 || nest.loops.size() != 1) return false;
  const ir::Op& sum = *reduction->op;
  std::set<std::uint32_t> seen;
  const auto reads = [&](ir::Value operand) {
    return reads_array(step, operand, step.kept[0], seen);
  };
  const std::vector<ir::Value>& operands = kernel_.maker(step.kept[0])->operands;
  return reduction->is_inner && !reduction->wide && is_plain(*reduction, OpKind::Add) &&
         sum.operands[0] == step.kept[0] && kernel_.type(sum.operands[0]).dtype == DType::Float32 &&
         surely_vectorises(nest) && only_reads(step) &&
         std::none_of(operands.begin(), operands.end(), reads);
}

// The largest of f32, as nothing but that, in programs whose sums are calls too.
bool RowFacts::is_plain_largest(const NestShape& nest, const ReductionShape* reduction) const {
  const Step& step = *nest.step;
  if (!deferred_.step || !reduction || !step.kept.empty() || nest.loops.size() != 1 ||
      !same_shape(step.shape, deferred_.step->shape))
    return false;
  const ir::Op& largest = *reduction->op;
  std::set<std::uint32_t> seen;
  return reduction->is_inner && reduction->only && reduction->only->kind == OpKind::Maximum &&
         kernel_.type(largest.operands[0]).dtype == DType::Float32 && surely_vectorises(nest) &&
         only_reads(step) && is_light(nest, largest.operands[0], seen);
}

// ---- The row that is left to the next program

// Whether the loop only writes a row of f32 (rounded or not) from its first element on.
bool RowFacts::can_be_deferred(const Step& step) {
  if (step.kind != Step::Kind::Elements || step.shape.numel() < shortest_deferred_row) return false;
  NestShape nest = shape_of(step, {});
  find_split(step, nest);
  if (nest.loops.size() != 1 || !stored_f32(nest)) return false;
  const auto writes = [](const ir::Op* op) { return op->facts().has(ir::Writes); };
  const ir::Op& store = **std::find_if(step.ops.begin(), step.ops.end(), writes);
  const DType dtype = kernel_.type(store.operands[1]).dtype;
  const bool can_round =
      dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
  if (store.operands.size() <= 2) return can_round && !nest.split;
  if (!can_round || store.operands[2] != nest.split) return false;
  const auto low = 2 * static_cast<std::size_t>(nest.loops[0].first);
  return constant(kernel_.maker(nest.split)->operands[low]) == 0;
}

// Whether a loop over such a row is a sum that has time for the row of the program before.
bool RowFacts::is_beside(const Step& step, const Type& row) {
  if (step.kind != Step::Kind::Elements || !same_shape(step.shape, row) ||
      step.reductions.size() != 1)
    return false;
  NestShape nest = shape_of(step, {static_cast<int>(step.reductions[0]->integer("axis"))});
  ReductionShape reduction = reductions_of(step, nest)[0];
  find_split(step, nest);
  widen_sum(nest, reduction);
  const Type own = kernel_.type(reduction.op->operands[0]).element();
  return is_kept_sum(nest, &reduction) ||
         (reduction.wide.value_or(own).dtype == DType::Float32 && is_plain_sum(nest, &reduction));
}

void RowFacts::find_deferred() {
  const Steps& all = schedule_.steps();
  bool is_alone = true;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    is_alone &=
        !op.facts().is_atomic() && !op.facts().is(ir::Family::Sync) && op.integer("volatile") == 0;
  });
  if (all.empty() || !is_alone || !can_be_deferred(all.back())) return;
  const Step& last = all.back();
  for (std::size_t k = all.size() - 1; k-- > 0 && !deferred_.meanwhile;)
    if (is_beside(all[k], last.shape)) deferred_.meanwhile = &all[k];
  if (!deferred_.meanwhile) return;
  deferred_.step = &last;
  std::set<std::uint32_t> seen;
  for (const ir::Op* op : last.ops)
    for (const ir::Value operand : op->operands) find_deferred_arrays(operand, seen);
}

void RowFacts::find_deferred_arrays(ir::Value value, std::set<std::uint32_t>& seen) {
  if (!seen.insert(value.id).second || kernel_.type(value).is_scalar()) return;
  if (schedule_.is_in_array(value, *deferred_.step)) {
    deferred_.reads.insert(value.id);
    deferred_.arrays.insert(schedule_.storage(value).id);
    return;
  }
  if (const ir::Op* op = kernel_.maker(value))
    for (const ir::Value operand : op->operands) find_deferred_arrays(operand, seen);
}

// Whether anything but the deferred row, which ends where the mask does, reads the terms that are
// kept.
bool RowFacts::is_read_behind_mask(const NestShape& nest) const {
  const ir::Value kept = nest.step->kept[0];
  const ir::Value result = schedule_.result_of(kept);
  const ir::Op* end = nest.step->op->regions[0].ops.back();
  int readers = 0;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    for (const ir::Value operand : op.operands)
      readers += &op != end && (operand == kept || operand == result) ? 1 : 0;
  });
  constexpr int sum_and_row = 2;
  return readers != sum_and_row || !deferred_.reads.contains(result.id);
}

}  // namespace tilewright
