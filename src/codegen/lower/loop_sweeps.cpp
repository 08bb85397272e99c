// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_sweeps.cpp — what a sweep does for each element, and its effects.
#include "codegen/lower/loop_sweeps.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/lower/loop_lowering.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

void LoopSweeps::run_ops(LoweredNest& nest, const Step& step) {
  for (const ir::Op* op : step.ops) {
    if (op->facts().has(ir::Writes)) load_again_before(nest, step, *op);
    if (op->results.empty() || op->facts().has(ir::Writes)) {
      effect(nest, *op);
      continue;
    }
    // Loads keep their place before the stores; all else is written where it is needed.
    if (op->kind == OpKind::Load) element(nest, op->result(), nest.own);
  }
}

// What the sweep loads once more is read before a write of the same elements, too.
void LoopSweeps::load_again_before(LoweredNest& nest, const Step& step, const ir::Op& write) {
  for (const ir::Op* op : step.op->regions[0].ops) {
    if (op == &write) return;
    if (op->kind == OpKind::Load && schedule_.is_repeat(*op) &&
        same_shape(kernel_.type(op->result()), step.shape) && facts_.must_order(*op, write))
      element(nest, op->result(), nest.own);
  }
}

// Writes the values that outlive the loop. An array may be that of a value which another of them
// still reads (m = m_new, z = z * exp(m - m_new)), so all are computed before any is written.
void LoopSweeps::keep(LoweredNest& nest, const Step& step) {
  // A sum keeps its terms; where it is taken at once, they are often not read again.
  if (nest.keeps && (nest.once.empty() || !facts_.is_read_behind_mask(nest))) return;
  std::vector<ir::Value> values;
  for (const ir::Value value : step.kept) {
    PlacedValue made = element(nest, value, nest.own);
    if (step.kept.size() > 1 && written_.reads_element(made.value))
      made = name_in(nest, value, made.value, nest.depth());
    values.push_back(made.value);
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const PlacedValue at = linear(kernel_.type(step.kept[k]), nest.own);
    statement(OpKind::Write, {array(step.kept[k]), at.value, copied(values[k])}, nest.lines.back());
  }
}

void LoopSweeps::elements(const Step& step) {
  std::vector<const ir::Op*> all = step.ops;
  all.insert(all.end(), step.reductions.begin(), step.reductions.end());
  note_lines(all);
  if (facts_.stays_in_place(step)) families().dots.fill_operands(step);
  else element_loops(step);
}

void LoopSweeps::element_loops(const Step& step) {
  std::vector<int> axes;
  for (const ir::Op* op : step.reductions) axes.push_back(static_cast<int>(op->integer("axis")));
  LoweredNest nest = make_nest(step, step.shape, axes);
  std::vector<LoweredReduction> reductions = families().reductions.plan_reductions(step, nest);
  const bool is_ordered =
      std::any_of(reductions.begin(), reductions.end(),
                  [](const LoweredReduction& reduction) { return !reduction.has_identity; });
  families().reductions.begin_reductions(nest, reductions);
  if (facts_.is_simd(step) && !is_ordered) families().rows.find_row_call(nest, reductions);
  LoopMarks marks{.simd = facts_.is_simd(step) && !is_ordered &&
                          std::none_of(reductions.begin(), reductions.end(),
                                       [](const LoweredReduction& reduction) {
                                         return reduction.is_inner && reduction.clause.empty();
                                       })};
  if (marks.simd) marks.reduces = families().reductions.clauses_of(reductions);
  for (const LoweredReduction& reduction : reductions)
    if (!nest.sum && facts_.is_long_sum(nest, reduction))
      nest.long_sums.push_back(reduction.sums[0]);
  if (marks.simd)
    nest.mapped =
        &step == facts_.deferred().step ? facts_.stored_f32(nest) : facts_.mapped_value(nest);
  find_blocks(nest);
  families().reductions.finish_reductions(nest, reductions);
  lower_nest(nest, marks, [&] {
    run_ops(nest, step);
    for (const LoweredReduction& reduction : reductions)
      families().reductions.accumulate(nest, reduction);
    keep(nest, step);
  });
  for (const LoweredReduction& reduction : reductions) families().reductions.publish(reduction);
  check_runs(step);
}

void LoopSweeps::find_blocks(LoweredNest& nest) {
  families().rows.find_rows_ahead(nest);
  if (nest.sum || nest.mapped) return;  // the library's loops have blocks of their own
  const bool is_long = !nest.loops.empty() && nest.loops.back().size > nest.block_size;
  const auto writes = [&](const ir::Op* op) { return facts_.is_streamed(nest, *op); };
  const std::vector<const ir::Op*>& ops = nest.step->ops;
  nest.has_blocks =
      !nest.long_sums.empty() ||
      (is_long && (!nest.ahead.empty() || std::any_of(ops.begin(), ops.end(), writes)));
}

// ---- Effects

void LoopSweeps::effect(LoweredNest& nest, const ir::Op& op) {
  Statements& lines = nest.lines.back();
  if (op.facts().is_atomic()) return atomic(nest, op);
  if (op.kind == OpKind::Assert) {
    std::vector<ir::Value> operands;
    for (const ir::Value operand : op.operands)
      operands.push_back(element(nest, operand, nest.own).value);
    statement(OpKind::Assert, operands, lines, op.attributes, op.location);
    return;
  }
  TW_CHECK(op.kind == OpKind::Store, "'{}' has no text on the CPU", op.facts().name);
  KnownCondition mask{true, {}};
  if (op.operands.size() > 2) mask = condition(nest, op.operands[2], nest.own);
  if (mask.known && !*mask.known) return;
  if (nest.maps) {
    families().streams.streamed_store(nest, op);
    nest.result = element(nest, nest.mapped, nest.own).value;
    return;
  }
  const PlacedValue value = element(nest, op.operands[1], nest.own);
  const ir::Value written = nest.loops.empty() ? value.value : copied(value.value);
  if (mask.known && facts_.is_streamed(nest, op))
    return families().streams.write_streamed(nest, op, written);
  std::vector<ir::Value> operands = {access(nest, op.operands[0], nest.own).value, written};
  if (!mask.known) operands.push_back(mask.value.value);
  statement(OpKind::Store, operands, lines, {}, op.location);
}

void LoopSweeps::atomic(LoweredNest& nest, const ir::Op& op) {
  const bool is_cas = op.kind == OpKind::AtomicCas;
  KnownCondition mask{true, {}};
  if (!is_cas && op.operands.size() > 2) mask = condition(nest, op.operands[2], nest.own);
  const Type type = kernel_.type(op.result());
  const bool is_used = schedule_.is_used(op.result()) || type.is_scalar();
  if (mask.known && !*mask.known) {
    if (!is_used) return;
    nest.known[{op.result().id, key_of(nest.own)}] =
        name_in(nest, op.result(), zero_of(type), nest.depth());
    return;
  }
  std::vector<ir::Value> operands = {access(nest, op.operands[0], nest.own).value,
                                     element(nest, op.operands[1], nest.own).value};
  if (is_cas) operands.push_back(element(nest, op.operands[2], nest.own).value);
  else if (!mask.known) operands.push_back(mask.value.value);
  const ir::Value old = make(op.kind, operands, type.element(), op.attributes, op.location);
  if (!is_used) return insert(out_.maker(old), nest.lines.back());
  nest.known[{op.result().id, key_of(nest.own)}] = name_in(nest, op.result(), old, nest.depth());
}

}  // namespace tilewright
