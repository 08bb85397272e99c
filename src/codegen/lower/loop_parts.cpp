// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_parts.cpp — the ranges of the innermost loop of a nest: what each does, as a
// loop, block by block, or as a call.
#include "codegen/lower/loop_nests.h"

#include <algorithm>

#include "codegen/lower/loop_lowering.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// Whether all that the range does is a row of the library's tw::map.
bool LoopNests::will_map(const LoweredNest& nest, const LoopRange& range) const {
  if (!nest.mapped) return false;
  const auto writes = [](const ir::Op* op) { return op->facts().has(ir::Writes); };
  const std::vector<const ir::Op*>& ops = nest.step->ops;
  const ir::Op& store = **std::find_if(ops.begin(), ops.end(), writes);
  return !store.mask() || (range.holds == true && facts_.is_split(nest, store.mask()));
}

// Positions of a call have 64 bits. Where a sum is taken at once and its terms are kept all the
// same, the part is a loop.
LoweredPart LoopNests::lower_part(LoweredNest& nest, const LoopRange& range,
                                  const std::function<void()>& body) {
  if (!nest.sum) return lower_range(nest, range, will_map(nest, range), body);
  const LoweredNest before = nest;
  LoweredPart part = lower_range(nest, range, true, body);
  if (part.once.empty() || part.lines.empty()) return part;
  nest = before;
  return lower_range(nest, range, false, body);
}

LoweredPart LoopNests::lower_range(LoweredNest& nest, const LoopRange& range, bool has_long_index,
                                   const std::function<void()>& body) {
  nest.split_holds = range.holds;
  nest.range = range;
  nest.streamed.clear();
  nest.maps = will_map(nest, range);
  const Loop& inner = nest.loops.back();
  nest.index.back() = new_index(inner.name, has_long_index ? DType::Int64 : DType::Int32);
  set_own(nest);
  nest.block_first = range.begin;
  LoweredPart part{.range = range, .index = nest.index.back()};
  if (nest.has_blocks) {
    nest.block_first = new_index(nest.names.make(inner.name + "_first"));
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
void LoopNests::put_off(LoweredNest& nest, LoweredPart& part, std::size_t before) {
  Statements& lines = nest.lines[0];
  if (part.once.empty() || !part.lines.empty() || lines.size() == before) return;
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(before);
  const ir::Value is_there = compare("lt", part.range.begin, part.range.end);
  Statements put_off(first, lines.end());
  put_off.insert(put_off.end(), part.once.begin(), part.once.end());
  lines.erase(first, lines.end());
  part.once.clear();
  choose(is_there, part.once, [&](Statements& inside) { inside = std::move(put_off); });
}

// A part may have put values outside the innermost loop. A name of theirs inside of it would hide
// them: `const f16 v_2 = x[v_2 + j];`.
void LoopNests::reserve_outer_names(LoweredNest& nest) const {
  for (std::size_t k = 0; k < nest.loops.size(); ++k)
    for (const ir::Op* op : nest.lines[k])
      for (const ir::Value value : op->results)
        if (!out_.name_of(value).empty()) nest.names.reserve(out_.name_of(value));
}

// `body` fills the nest's lines for one range of the innermost loop.
void LoopNests::lower_nest(LoweredNest& nest, const LoopMarks& marks,
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
  const bool rest = nest.split && facts_.needs_rest(*nest.step, nest);
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
    reserve_outer_names(nest);
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

void LoopNests::put_loop(const LoweredPart& part, const LoopRange& range, const LoopMarks& marks,
                         Statements& list) {
  ir::Op* loop = loop_over(part.index, range, 1, "elements", list);
  if (marks.simd) loop->set("simd", std::int64_t{1});
  // Sums that were done at once are not the loop's.
  if (marks.simd && part.once.empty() && !marks.reduces.empty())
    loop->set("reduces", marks.reduces);
  loop->regions[0].ops = part.lines;
  statement(OpKind::Yield, {}, loop->regions[0].ops);
}

// Each block adds to a sum of its own.
std::vector<ir::Value> LoopNests::begin_long_sums(LoweredNest& nest, const LoweredPart& part,
                                                  Statements& list) {
  std::vector<ir::Value> before;
  if (!part.once.empty()) return before;  // sums that were done at once are not the blocks'
  for (const ir::Value sum : nest.long_sums) {
    before.push_back(named(current(sum), nest.names.make(out_.name_of(sum) + "_before"), list));
    const ir::Value nothing = constant_of(type_of(sum).element(), -0.0);
    statement(OpKind::Write, {sum, number(0), nothing}, list);
  }
  return before;
}

void LoopNests::put_blocks(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                           Statements& list) {
  ir::Op* blocks = loop_over(part.first, part.range, nest.block_size, "blocks", list);
  Statements& inside = blocks->regions[0].ops;
  const ir::Value end = sum({{cast(part.first, DType::Int64)}, {number(nest.block_size)}});
  const ir::Value last =
      named(call(LibraryKind::Clip, {end, number(0), part.range.end}, Type::scalar(DType::Int32)),
            part.last, inside);
  const LoopRange block{part.first, last, {}};
  const std::vector<ir::Value> before = begin_long_sums(nest, part, inside);
  families().rows.fetch_ahead(nest, part, block, inside);
  families().streams.begin_streams(part.streamed, inside);
  put_loop(part, block, marks, inside);
  families().streams.finish_streams(part.streamed, block, inside);
  for (std::size_t k = 0; k < before.size(); ++k) {
    const ir::Value sum = nest.long_sums[k];
    const ir::Value all = make(OpKind::Add, {before[k], current(sum)}, type_of(sum).element());
    statement(OpKind::Write, {sum, number(0), all}, inside);
  }
  statement(OpKind::Yield, {}, inside);
}

// One range of the innermost loop.
void LoopNests::put_part(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                         Statements& list) {
  if (part.are_runs) return put_either(nest, part, marks, list);
  list.insert(list.end(), part.once.begin(), part.once.end());
  if (part.result && nest.sum) return families().rows.put_row_call(nest, part, list);
  if (part.result && nest.step == facts_.deferred().step)
    return families().rows.defer_row(part, list);
  if (part.result) {
    families().rows.fetch_ahead(nest, part, part.range, list);
    return families().rows.map_row(part, list);
  }
  if (part.lines.empty()) return;
  if (nest.has_blocks && (part.once.empty() || !part.streamed.empty()))
    return put_blocks(nest, part, marks, list);
  families().rows.fetch_ahead(nest, part, part.range, list);
  families().streams.begin_streams(part.streamed, list);
  put_loop(part, part.range, marks, list);
  families().streams.finish_streams(part.streamed, part.range, list);
}

// Short rows that are only loaded into arrays, as products need them: most rows are whole, and a
// loop of known length is faster than one that looks for its end.
bool LoopNests::has_whole_rows(const LoweredNest& nest,
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
void LoopNests::put_parts(LoweredNest& nest, const std::vector<LoweredPart>& parts,
                          const std::optional<LoweredPart>& whole, const LoopMarks& marks) {
  const auto put_all = [&](Statements& list) {
    for (const LoweredPart& part : parts) put_part(nest, part, marks, list);
  };
  if (!whole) return put_all(*list_);
  choose(
      compare("eq", parts[0].range.end, whole->range.end), *list_,
      [&](Statements& list) { put_part(nest, *whole, marks, list); }, put_all);
}

}  // namespace tilewright
