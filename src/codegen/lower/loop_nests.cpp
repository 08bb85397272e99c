// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_nests.cpp — the loop nest of a sweep: its loops, the split of the innermost
// one by a prefix mask, effects, and copies of whole tiles.
#include "codegen/lower/loop_nests.h"

#include <algorithm>

#include "base/check.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr const char* index_names[] = {"i", "j", "k", "l"};

}  // namespace

LoweredNest LoopNests::make_nest(const Step& step, const Type& shape,
                                 const std::vector<int>& axes) {
  LoweredNest nest;
  nest.step = &step;
  nest.shape = shape;
  nest.names = names_;
  nest.loops = loops_over(shape, axes);
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    Loop& loop = nest.loops[k];
    loop.name = nest.names.make(index_names[std::min<std::size_t>(k, 3)]);
    nest.index.push_back(new_index(loop.name));
    nest.is_merged |= loop.last - loop.first > 1 && loop.size > shape.size(loop.first);
  }
  nest.lines.resize(nest.loops.size() + 1);
  nest.after.resize(nest.loops.size() + 1);
  set_own(nest);
  return nest;
}

// The coordinates of the element that the loops are at.
void LoopNests::set_own(LoweredNest& nest) {
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
ir::Value LoopNests::bounds_without_loop(const LoweredNest& nest, const ir::Op& bounds) {
  std::vector<ir::Value> tests;
  const auto add = [&](ir::Value bound, const char* is) {
    const ir::Value made = scalar(bound);
    tests.push_back(compare(is, made, number(0, type_of(made).dtype)));
  };
  for (int d = 0; d < nest.shape.rank; ++d) {
    if (nest.shape.size(d) > 1) continue;
    const ir::Value low = bounds.operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = bounds.operands[2 * static_cast<std::size_t>(d) + 1];
    const std::optional<std::int64_t> least = facts_.constant(low), most = facts_.constant(high);
    if (!least || *least > 0) add(low, "le");
    if (!most || *most < 1) add(high, "gt");
  }
  if (tests.empty()) return {};
  return all(tests);
}

// Ranges of the innermost loop. Outer loops are narrowed when only the inside matters; else the
// inside of a row outside the mask is empty.
std::vector<LoopRange> LoopNests::ranges(LoweredNest& nest, bool rest) {
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
    const std::optional<std::int64_t> low = facts_.constant(mask.operands[2 * d]);
    const std::optional<std::int64_t> high = facts_.constant(mask.operands[2 * d + 1]);
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
  if (!inside.empty()) only_where(all(inside), nest.lines[nest.loops.size() - 1]);
  std::vector<LoopRange> parts{cut};
  if (is_cut_low) parts.insert(parts.begin(), {number(0), cut.begin, false});
  if (is_cut_high) parts.push_back({cut.end, number(inner.size), false});
  return parts;
}

void LoopNests::copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies) {
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
