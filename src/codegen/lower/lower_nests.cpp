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

// Elements of a block of a large result (tw::part_size).
constexpr std::int64_t elements_of_block = 1024;

const Type condition_type = Type::scalar(DType::Bool);

ir::Attribute is_attribute(const char* is) { return {"is", std::string(is)}; }

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
    tests.push_back(make(OpKind::Compare, {made, number(0, type_of(made).dtype)}, condition_type,
                         {is_attribute(is)}));
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
      inside.push_back(
          make(OpKind::Compare, {nest.index[k], bound}, condition_type, {is_attribute(is)}));
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
    if (op->results.empty() || op->facts().has(ir::Writes)) {
      effect(nest, *op);
      continue;
    }
    // Loads keep their place before the stores; all else is written where it is needed.
    if (op->kind == OpKind::Load) element(nest, op->result(), nest.own);
  }
}

// Writes the values that outlive the loop. An array may be that of a value which another of them
// still reads (m = m_new, z = z * exp(m - m_new)), so all are computed before any is written.
void LoopLowering::keep(LoweredNest& nest, const Step& step) {
  std::vector<ir::Value> values;
  for (const ir::Value value : step.kept) {
    PlacedValue made = element(nest, value, nest.own);
    const bool reads_an_array = text_.operand(made.value).find('[') != std::string::npos;
    if (step.kept.size() > 1 && reads_an_array)
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
  if (!is_ordered) find_split(step, nest);
  widen_sums(nest, reductions);
  begin_reductions(nest, reductions);
  LoopMarks marks{.simd = is_simd(step) && !is_ordered &&
                          std::none_of(reductions.begin(), reductions.end(),
                                       [](const LoweredReduction& reduction) {
                                         return reduction.is_inner && reduction.clause.empty();
                                       })};
  if (marks.simd) marks.reduces = clauses_of(reductions);
  if (marks.simd) nest.mapped = mapped_value(nest);
  const bool is_long = !nest.loops.empty() && nest.loops.back().size > elements_of_block;
  nest.has_blocks = !nest.mapped && is_long &&
                    std::any_of(step.ops.begin(), step.ops.end(),
                                [&](const ir::Op* op) { return is_streamed(nest, *op); });
  finish_reductions(nest, reductions);
  lower_nest(nest, marks, [&] {
    run_ops(nest, step);
    for (const LoweredReduction& reduction : reductions) accumulate(nest, reduction);
    keep(nest, step);
  });
  for (const LoweredReduction& reduction : reductions) publish(reduction);
  check_runs(step);
}

// Whether all that the range does is a row of the library's tw::map.
bool LoopLowering::will_map(const LoweredNest& nest, const LoopRange& range) const {
  if (!nest.mapped) return false;
  const auto writes = [](const ir::Op* op) { return op->facts().has(ir::Writes); };
  const std::vector<const ir::Op*>& ops = nest.step->ops;
  const ir::Op& store = **std::find_if(ops.begin(), ops.end(), writes);
  return !store.mask() || (range.holds == true && is_split(nest, store.mask()));
}

LoweredPart LoopLowering::lower_part(LoweredNest& nest, const LoopRange& range,
                                     const std::function<void()>& body) {
  nest.split_holds = range.holds;
  nest.range = range;
  nest.streamed.clear();
  nest.maps = will_map(nest, range);
  const Loop& inner = nest.loops.back();
  nest.index.back() =
      out_.make_value(Type::scalar(nest.maps ? DType::Int64 : DType::Int32), inner.name, nullptr);
  set_own(nest);
  nest.block_first = range.begin;
  LoweredPart part{.range = range, .index = nest.index.back()};
  if (nest.has_blocks) {
    nest.block_first = out_.make_value(Type::scalar(DType::Int32),
                                       nest.names.make(inner.name + "_first"), nullptr);
    part.first = nest.block_first;
    part.last = nest.names.make(inner.name + "_last");
  }
  body();
  // What lies in the innermost loop, or depends on the mask, is known only in this part.
  const std::string own = key_of(nest.own);
  std::erase_if(nest.known, [&](const auto& entry) {
    return entry.second.depth == nest.depth() || entry.first.second == own;
  });
  part.lines = std::exchange(nest.lines.back(), {});
  part.once = std::exchange(nest.once, {});
  part.streamed = nest.streamed;
  part.result = std::exchange(nest.result, {});
  return part;
}

// Behind the mask's end there is often nothing: what only that part needs waits until it is known.
void LoopLowering::put_off(LoweredNest& nest, LoweredPart& part, std::size_t before) {
  Statements& lines = nest.lines[0];
  if (part.once.empty() || !part.lines.empty() || lines.size() == before) return;
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(before);
  const ir::Value is_there = make(OpKind::Compare, {part.range.begin, part.range.end},
                                  condition_type, {is_attribute("lt")});
  ir::Op* chosen = out_.make_op(OpKind::If, {is_there}, {}, {});
  chosen->regions.resize(2);
  Statements& inside = chosen->regions[0].ops;
  inside.assign(first, lines.end());
  inside.insert(inside.end(), part.once.begin(), part.once.end());
  lines.erase(first, lines.end());
  part.once.clear();
  insert(chosen, part.once);
  for (ir::Region& side : chosen->regions) statement(OpKind::Yield, {}, side.ops);
}

// `body` fills the nest's lines for one range of the innermost loop.
void LoopLowering::lower_nest(LoweredNest& nest, const LoopMarks& marks,
                              const std::function<void()>& body) {
  const auto append = [&](const Statements& more) {
    list_->insert(list_->end(), more.begin(), more.end());
  };
  if (nest.loops.empty()) {
    body();
    append(nest.lines[0]);
    append(nest.after[0]);
    names_ = nest.names;
    return;
  }
  const bool rest = nest.split && needs_rest(*nest.step, nest);
  std::vector<LoweredPart> parts;
  const std::vector<LoopRange> all = ranges(nest, rest);
  const Names names = nest.names;
  for (const LoopRange& range : all) {
    const std::size_t before = nest.lines[0].size();
    parts.push_back(lower_either(nest, range, body));
    if (&range == &all.back() && all.size() > 1) put_off(nest, parts.back(), before);
  }
  std::optional<LoweredPart> whole;
  if (has_whole_rows(nest, parts)) {
    nest.names = names;
    whole = lower_part(nest, {number(0), number(nest.loops.back().size), true}, body);
  }
  Statements* const outside = list_;
  append(nest.lines[0]);
  std::vector<ir::Op*> opened;
  for (std::size_t k = 0; k + 1 < nest.loops.size(); ++k) {
    opened.push_back(loop_over(nest.index[k], nest.bounds[k], 1, "elements", *list_));
    list_ = &opened.back()->regions[0].ops;
    append(nest.lines[k + 1]);
  }
  put_parts(nest, parts, whole, marks);
  for (std::size_t k = nest.loops.size(); k-- > 0;) {
    list_ = k > 0 ? &opened[k - 1]->regions[0].ops : outside;
    append(nest.after[k]);
    if (k > 0) statement(OpKind::Yield, {}, *list_);
  }
}

ir::Op* LoopLowering::loop_over(ir::Value index, const LoopRange& range, std::int64_t by,
                                const char* over, Statements& list) {
  ir::Op* loop = out_.make_op(OpKind::For, {range.begin, range.end, number(by)}, {}, {});
  loop->set("over", std::string(over));
  loop->regions.resize(1);
  loop->regions[0].arguments = {index};
  insert(loop, list);
  return loop;
}

void LoopLowering::put_loop(const LoweredPart& part, const LoopRange& range, const LoopMarks& marks,
                            Statements& list) {
  ir::Op* loop = loop_over(part.index, range, 1, "elements", list);
  if (marks.simd) loop->set("simd", std::int64_t{1});
  // Sums that were done at once are not the loop's.
  if (marks.simd && part.once.empty() && !marks.reduces.empty())
    loop->set("reduces", marks.reduces);
  loop->regions[0].ops = part.lines;
  statement(OpKind::Yield, {}, loop->regions[0].ops);
}

void LoopLowering::put_blocks(LoweredNest&, const LoweredPart& part, const LoopMarks& marks,
                              Statements& list) {
  ir::Op* blocks = loop_over(part.first, part.range, elements_of_block, "blocks", list);
  Statements& inside = blocks->regions[0].ops;
  const ir::Value end = sum({{cast(part.first, DType::Int64)}, {number(elements_of_block)}});
  const ir::Value last =
      named(call(LibraryKind::Clip, {end, number(0), part.range.end}, Type::scalar(DType::Int32)),
            part.last, inside);
  const LoopRange block{part.first, last, {}};
  begin_streams(part.streamed, inside);
  put_loop(part, block, marks, inside);
  finish_streams(part.streamed, block, inside);
  statement(OpKind::Yield, {}, inside);
}

// One range of the innermost loop.
void LoopLowering::put_part(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                            Statements& list) {
  if (part.are_runs) return put_either(nest, part, marks, list);
  if (part.result) return map_row(part, list);
  list.insert(list.end(), part.once.begin(), part.once.end());
  if (part.lines.empty()) return;
  if (nest.has_blocks && (part.once.empty() || !part.streamed.empty()))
    return put_blocks(nest, part, marks, list);
  begin_streams(part.streamed, list);
  put_loop(part, part.range, marks, list);
  finish_streams(part.streamed, part.range, list);
}

// Short rows that are only loaded into arrays, as products need them: most rows are whole, and a
// loop of known length is faster than one that looks for its end.
bool LoopLowering::has_whole_rows(const LoweredNest& nest,
                                  const std::vector<LoweredPart>& parts) const {
  constexpr std::int64_t longest_row = 256;
  const Step& step = *nest.step;
  const auto is_load = [](const ir::Op* op) { return op->kind == OpKind::Load; };
  return nest.loops.size() > 1 && nest.loops.back().size <= longest_row && parts.size() == 2 &&
         parts[0].range.holds.value_or(false) && is_zero(parts[0].range.begin) &&
         step.reductions.empty() && !step.ops.empty() &&
         std::all_of(step.ops.begin(), step.ops.end(), is_load) &&
         std::none_of(parts.begin(), parts.end(),
                      [](const LoweredPart& part) { return bool(part.are_runs); });
}

// The ranges of the innermost loop.
void LoopLowering::put_parts(LoweredNest& nest, const std::vector<LoweredPart>& parts,
                             const std::optional<LoweredPart>& whole, const LoopMarks& marks) {
  const auto put_all = [&](Statements& list) {
    for (const LoweredPart& part : parts) put_part(nest, part, marks, list);
  };
  if (!whole) return put_all(*list_);
  const ir::Value is_whole = make(OpKind::Compare, {parts[0].range.end, whole->range.end},
                                  condition_type, {is_attribute("eq")});
  ir::Op* chosen = out_.make_op(OpKind::If, {is_whole}, {}, {});
  chosen->regions.resize(2);
  insert(chosen, *list_);
  put_part(nest, *whole, marks, chosen->regions[0].ops);
  put_all(chosen->regions[1].ops);
  for (ir::Region& side : chosen->regions) statement(OpKind::Yield, {}, side.ops);
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
