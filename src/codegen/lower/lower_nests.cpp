// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_nests.cpp — the loop nest of a sweep: its loops, the split of the innermost
// one by a prefix mask, effects, and copies of whole tiles.
#include <algorithm>

#include "base/check.h"
#include "codegen/lower/lowering.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr const char* index_names[] = {"i", "j", "k", "l"};

const Type condition_type = Type::scalar(DType::Bool);

}  // namespace

LoweredNest LoopLowering::make_nest(const Step& step, const Type& shape,
                                    const std::vector<int>& axes) {
  LoweredNest nest;
  nest.step = &step;
  nest.shape = shape;
  nest.names = names_;
  nest.loops = loops_over(shape, axes);
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    Loop& loop = nest.loops[k];
    loop.name = nest.names.make(index_names[std::min<std::size_t>(k, 3)]);
    nest.index.push_back(out_.make_value(Type::scalar(DType::Int32), loop.name, nullptr));
    nest.is_merged |= loop.last - loop.first > 1 && loop.size > shape.size(loop.first);
  }
  nest.lines.resize(nest.loops.size() + 1);
  nest.after.resize(nest.loops.size() + 1);
  set_own(nest);
  return nest;
}

// The coordinates of the element that the loops are at.
void LoopLowering::set_own(LoweredNest& nest) {
  nest.own.at.assign(nest.shape.rank, PlacedValue{number(0), 0});
  std::vector<Term> whole;
  std::int64_t after = nest.shape.numel();
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    const Loop& loop = nest.loops[k];
    const int depth = static_cast<int>(k) + 1;
    after /= loop.size;
    whole.push_back({nest.index[k], after});
    std::int64_t stride = loop.size;
    for (int d = loop.first; d < loop.last; ++d) {
      if (nest.shape.size(d) == 1) continue;
      stride /= nest.shape.size(d);
      ir::Value at = nest.index[k];
      if (stride * nest.shape.size(d) < loop.size)
        at = make(OpKind::Digit, {at}, Type::scalar(DType::Int32),
                  {{"over", stride}, {"of", nest.shape.size(d)}});
      else if (stride > 1)
        at = make(OpKind::Digit, {at}, Type::scalar(DType::Int32), {{"over", stride}});
      nest.own.at[static_cast<std::size_t>(d)] = {at, depth};
    }
  }
  if (nest.is_merged) nest.own.linear = PlacedValue{sum(whole), nest.depth()};
}

// ---- The split

// What the mask asks of dimensions of one element, which no loop runs over; none: nothing.
ir::Value LoopLowering::bounds_without_loop(const LoweredNest& nest, const ir::Op& bounds) {
  std::vector<ir::Value> tests;
  const auto add = [&](ir::Value bound, const char* is) {
    const ir::Value made = scalar(bound);
    tests.push_back(compare(is, made, number(0, type_of(made).dtype)));
  };
  for (int d = 0; d < nest.shape.rank; ++d) {
    if (nest.shape.size(d) > 1) continue;
    const ir::Value low = bounds.operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = bounds.operands[2 * static_cast<std::size_t>(d) + 1];
    const std::optional<std::int64_t> least = constant(low), most = constant(high);
    if (!least || *least > 0) add(low, "le");
    if (!most || *most < 1) add(high, "gt");
  }
  if (tests.empty()) return {};
  return tests.size() == 1 ? tests[0] : make(OpKind::All, tests, condition_type);
}

// Ranges of the innermost loop. Outer loops are narrowed when only the inside matters; else the
// inside of a row outside the mask is empty.
std::vector<LoopRange> LoopLowering::ranges(LoweredNest& nest, bool rest) {
  Loop& inner = nest.loops.back();
  nest.bounds.clear();
  for (const Loop& loop : nest.loops) nest.bounds.push_back({number(0), number(loop.size), {}});
  if (!nest.split) return {nest.bounds.back()};
  const ir::Op& mask = *kernel_.maker(nest.split);
  const Type index = Type::scalar(DType::Int32);
  std::vector<ir::Value> inside;
  LoopRange cut;
  bool is_cut_low = false, is_cut_high = false;
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    Loop& loop = nest.loops[k];
    const auto d = static_cast<std::size_t>(loop.first);
    const std::optional<std::int64_t> low = constant(mask.operands[2 * d]);
    const std::optional<std::int64_t> high = constant(mask.operands[2 * d + 1]);
    const bool cuts_low = !low || *low > 0, cuts_high = !high || *high < loop.size;
    ir::Value from = number(0), to = number(loop.size);
    const auto clipped = [&](ir::Value bound, ir::Value least, const char* suffix) {
      const std::string name = nest.names.make(loop.name + suffix);
      names_.reserve(name);
      return named(call(LibraryKind::Clip, {scalar(bound), least, number(loop.size)}, index), name,
                   *list_);
    };
    if (cuts_low && low) from = number(std::min(*low, loop.size));
    else if (cuts_low) from = clipped(mask.operands[2 * d], number(0), "_begin");
    if (cuts_high && high && (!cuts_low || low))
      to = number(std::max({*high, std::int64_t{0}, low.value_or(0)}));
    else if (cuts_high) to = clipped(mask.operands[2 * d + 1], from, "_end");
    const auto test = [&](const char* is, ir::Value bound) {
      inside.push_back(compare(is, nest.index[k], bound));
    };
    if (&loop == &inner) {
      cut = {from, to, true};
      is_cut_low = cuts_low;
      is_cut_high = cuts_high;
    } else if (!rest) {
      nest.bounds[k] = {from, to, {}};
    } else {
      if (cuts_low) test("ge", from);
      if (cuts_high) test("lt", to);
    }
  }
  const auto only_where = [&](ir::Value condition, Statements& list) {
    const std::string name = nest.names.make(inner.name + "_last");
    names_.reserve(name);
    cut.end = named(make(OpKind::Select, {condition, cut.end, cut.begin}, index), name, list);
    is_cut_high = true;
  };
  if (const ir::Value without_loop = bounds_without_loop(nest, mask))
    only_where(without_loop, *list_);
  if (!rest) return {cut};
  if (!inside.empty())
    only_where(inside.size() == 1 ? inside[0] : make(OpKind::All, inside, condition_type),
               nest.lines[nest.loops.size() - 1]);
  std::vector<LoopRange> all{cut};
  if (is_cut_low) all.insert(all.begin(), {number(0), cut.begin, false});
  if (is_cut_high) all.push_back({cut.end, number(inner.size), false});
  return all;
}

// ---- The nest

void LoopLowering::run_ops(LoweredNest& nest, const Step& step) {
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
void LoopLowering::load_again_before(LoweredNest& nest, const Step& step, const ir::Op& write) {
  for (const ir::Op* op : step.op->regions[0].ops) {
    if (op == &write) return;
    if (op->kind == OpKind::Load && schedule_.is_repeat(*op) &&
        same_shape(kernel_.type(op->result()), step.shape) &&
        order_of_memory_.must_order(*op, write))
      element(nest, op->result(), nest.own);
  }
}

// Writes the values that outlive the loop. An array may be that of a value which another of them
// still reads (m = m_new, z = z * exp(m - m_new)), so all are computed before any is written.
void LoopLowering::keep(LoweredNest& nest, const Step& step) {
  // A sum keeps its terms; where it is taken at once, they are often not read again.
  if (nest.keeps && (nest.once.empty() || !is_read_behind_mask(nest))) return;
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

void LoopLowering::elements(const Step& step) {
  std::vector<const ir::Op*> all = step.ops;
  all.insert(all.end(), step.reductions.begin(), step.reductions.end());
  note_lines(all);
  if (stays_in_place(step)) fill_operands(step);
  else element_loops(step);
}

void LoopLowering::element_loops(const Step& step) {
  std::vector<int> axes;
  for (const ir::Op* op : step.reductions) axes.push_back(static_cast<int>(op->integer("axis")));
  LoweredNest nest = make_nest(step, step.shape, axes);
  std::vector<LoweredReduction> reductions = plan_reductions(step, nest);
  const bool is_ordered =
      std::any_of(reductions.begin(), reductions.end(),
                  [](const LoweredReduction& reduction) { return !reduction.has_identity; });
  begin_reductions(nest, reductions);
  if (is_simd(step) && !is_ordered) find_row_call(nest, reductions);
  LoopMarks marks{.simd = is_simd(step) && !is_ordered &&
                          std::none_of(reductions.begin(), reductions.end(),
                                       [](const LoweredReduction& reduction) {
                                         return reduction.is_inner && reduction.clause.empty();
                                       })};
  if (marks.simd) marks.reduces = clauses_of(reductions);
  for (const LoweredReduction& reduction : reductions)
    if (!nest.sum && is_long_sum(nest, reduction)) nest.long_sums.push_back(reduction.sums[0]);
  if (marks.simd) nest.mapped = &step == deferred_.step ? stored_f32(nest) : mapped_value(nest);
  find_blocks(nest);
  finish_reductions(nest, reductions);
  lower_nest(nest, marks, [&] {
    run_ops(nest, step);
    for (const LoweredReduction& reduction : reductions) accumulate(nest, reduction);
    keep(nest, step);
  });
  for (const LoweredReduction& reduction : reductions) publish(reduction);
  check_runs(step);
}

void LoopLowering::find_blocks(LoweredNest& nest) {
  find_rows_ahead(nest);
  if (nest.sum || nest.mapped) return;  // the library's loops have blocks of their own
  const bool is_long = !nest.loops.empty() && nest.loops.back().size > nest.block_size;
  const auto writes = [&](const ir::Op* op) { return is_streamed(nest, *op); };
  const std::vector<const ir::Op*>& ops = nest.step->ops;
  nest.has_blocks =
      !nest.long_sums.empty() ||
      (is_long && (!nest.ahead.empty() || std::any_of(ops.begin(), ops.end(), writes)));
}

// ---- Effects

void LoopLowering::effect(LoweredNest& nest, const ir::Op& op) {
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
    streamed_store(nest, op);
    nest.result = element(nest, nest.mapped, nest.own).value;
    return;
  }
  const PlacedValue value = element(nest, op.operands[1], nest.own);
  const ir::Value written = nest.loops.empty() ? value.value : copied(value.value);
  if (mask.known && is_streamed(nest, op)) return write_streamed(nest, op, written);
  std::vector<ir::Value> operands = {access(nest, op.operands[0], nest.own).value, written};
  if (!mask.known) operands.push_back(mask.value.value);
  statement(OpKind::Store, operands, lines, {}, op.location);
}

void LoopLowering::atomic(LoweredNest& nest, const ir::Op& op) {
  const bool is_cas = op.kind == OpKind::AtomicCas;
  KnownCondition mask{true, {}};
  if (!is_cas && op.operands.size() > 2) mask = condition(nest, op.operands[2], nest.own);
  const Type type = kernel_.type(op.result());
  const bool is_used = schedule_.is_used(op.result()) || type.is_scalar();
  if (mask.known && !*mask.known) {
    if (!is_used) return;
    const ir::Value none =
        type.is_float() ? constant_of(type, 0.0) : constant_of(type, std::int64_t{0});
    nest.known[{op.result().id, key_of(nest.own)}] = name_in(nest, op.result(), none, nest.depth());
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

// ---- Copies of whole tiles: `first` gets the elements of `second`, all of one shape at once.

void LoopLowering::copy(const Step& step,
                        const std::vector<std::pair<ir::Value, ir::Value>>& copies) {
  std::vector<std::pair<ir::Value, ir::Value>> left = copies;
  while (!left.empty()) {
    const Type shape = kernel_.type(left.front().first).with_element(i8);
    const auto is_here = [&](const auto& pair) {
      return same_shape(kernel_.type(pair.first), shape);
    };
    LoweredNest nest = make_nest(step, shape);
    lower_nest(nest, {.simd = true}, [&] {
      std::vector<std::vector<ir::Value>> writes;
      for (const auto& [to, from] : left) {
        if (!is_here(std::pair(to, from))) continue;
        const PlacedValue value = element(nest, from, nest.own);
        const PlacedValue at = linear(kernel_.type(to), nest.own);
        const ir::Value next = named(
            copied(value.value), nest.names.make(kernel_.name_of(from), "next"), nest.lines.back());
        writes.push_back({array(to), at.value, copied(next)});
      }
      for (const std::vector<ir::Value>& write : writes)
        statement(OpKind::Write, write, nest.lines.back());
    });
    std::erase_if(left, is_here);
  }
}

}  // namespace tilewright
