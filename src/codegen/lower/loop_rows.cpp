// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_rows.cpp — loops along rows that are calls of the library, the row that is
// left to be written beside the next program, and rows of that program that are asked for.
#include "codegen/lower/loop_rows.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/lower/loop_lowering.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// ---- Calls

// A loop that finds one thing is a call of the library.
void LoopRows::find_row_call(LoweredNest& nest, const std::vector<LoweredReduction>& reductions) {
  const bool keeps =
      nest.step == facts_.deferred().meanwhile && facts_.is_kept_sum(nest, alone(reductions));
  if (!keeps && !nest.is_largest && !facts_.is_plain_sum(nest, alone(reductions))) return;
  nest.sum = reductions[0].sums[0];
  if (keeps) nest.keeps = array(nest.step->kept[0]);
}

// A call that is handed the lines of the part as a function of the position.
ir::Op* LoopRows::row_call(LibraryKind function, std::vector<ir::Value> operands,
                           const LoweredPart& part, Statements& list) {
  ir::Op* op = out_.make_op(OpKind::Call, std::move(operands), {}, {});
  op->set("function", std::string(name_of(function)));
  op->regions.resize(1);
  op->regions[0].arguments = {part.index};
  op->regions[0].ops = part.lines;
  insert(op, list);
  statement(OpKind::Yield, {part.result}, op->regions[0].ops);
  return op;
}

void LoopRows::put_row_call(const LoweredNest& nest, const LoweredPart& part, Statements& list) {
  const bool has_more = nest.step == facts_.deferred().meanwhile;
  LibraryKind function = has_more ? LibraryKind::SumBeside : LibraryKind::Sum;
  if (type_of(nest.sum).dtype == DType::Float64) function = LibraryKind::SumF64;
  if (nest.is_largest)
    function = nest.largest_keeps_nan ? LibraryKind::LargestOrNan : LibraryKind::Largest;
  std::vector<ir::Value> operands = {nest.sum, part.range.begin, part.range.end};
  if (nest.keeps) {
    function = LibraryKind::SumKept;
    operands.push_back(nest.keeps);
  }
  ir::Op* call = row_call(function, operands, part, list);
  if (has_more) put_meanwhile(nest, *call);
}

void LoopRows::map_row(const LoweredPart& part, Statements& list) {
  row_call(LibraryKind::Map,
           {part.range.begin, part.range.end, part.streamed[0].place, state_.streams}, part, list);
}

// ---- The row that is left to the next program

// What is done between the blocks of a sum.
void LoopRows::put_meanwhile(const LoweredNest& nest, ir::Op& sum) {
  const ir::Value index = new_index(nest.loops.back().name, DType::Int64);
  ir::Region& region = sum.regions.emplace_back();
  region.arguments = {index};
  for (const RowAhead& row : nest.ahead)
    call(LibraryKind::FetchBlock, {state_.streams, row_ahead(row, index)}, region.ops);
  call(LibraryKind::RunDeferred, {}, region.ops);
  statement(OpKind::Yield, {}, region.ops);
}

void LoopRows::defer_row(const LoweredPart& part, Statements& list) {
  TW_CHECK(part.streamed.size() == 1 && is_zero(part.range.begin), "a deferred row is one store");
  row_call(LibraryKind::Defer, {part.streamed[0].place, part.range.end}, part, list);
}

// ---- Rows of later programs

// Whether a scalar stands where the loop does: later ones do not.
bool LoopRows::is_made(ir::Value scalar) const {
  return scalars_.contains(scalar.id) || facts_.constant_value(scalar);
}

// The sum of terms as they come, numbers too.
ir::Value LoopRows::in_order(const std::vector<Term>& terms) {
  if (terms.size() == 1 && !terms[0].stride) return terms[0].index;
  std::vector<ir::Value> operands;
  std::vector<std::int64_t> factors;
  for (const Term& term : terms) {
    operands.push_back(term.index);
    factors.push_back(term.stride ? 0 : 1);
  }
  for (const Term& term : terms)
    if (term.stride) operands.push_back(term.stride);
  return make(OpKind::Linear, operands, Type::scalar(DType::Int64), {{"factors", factors}});
}

// None: a factor is not made yet.
std::optional<std::vector<IndexTerm>> LoopRows::grown(const Growth& growth) {
  std::vector<Term> terms;
  for (const Growth& part : growth.terms) {
    const std::optional<std::vector<Term>> more = grown(part);
    if (!more) return std::nullopt;
    terms.insert(terms.end(), more->begin(), more->end());
  }
  if (!growth.factor) return terms.empty() ? std::vector<Term>{{number(1)}} : terms;
  if (!is_made(growth.factor)) return std::nullopt;
  if (terms.empty()) return std::vector<Term>{{scalar(growth.factor)}};
  return std::vector<Term>{{in_order(terms), 0, scalar(growth.factor)}};
}

// Where the rows of this length begin that are asked for.
std::vector<RowAhead> LoopRows::later_rows(const Type& row) {
  std::vector<RowAhead> rows;
  for (const ir::Op* pointer : facts_.rows_to_read(row)) {
    const std::optional<Growth> growth = facts_.growth_of(pointer->operands[0]);
    if (!growth || growth->stays || !is_made(pointer->operands[0])) continue;
    const std::optional<std::vector<Term>> step = grown(*growth);
    if (!step) continue;
    const Type type = kernel_.type(pointer->operands[0]).pointee();
    const auto bytes = row.numel() * static_cast<std::int64_t>(type.element_bytes());
    std::vector<Term> terms = *step;
    if (bytes <= longest_row_two_ahead) terms.insert(terms.end(), step->begin(), step->end());
    rows.push_back({scalar(pointer->operands[0]), terms});
  }
  return rows;
}

void LoopRows::find_rows_ahead(LoweredNest& nest) {
  if (has_fetched_ahead_ || !facts_.may_read_ahead(nest)) return;
  nest.ahead = later_rows(nest.shape);
  if (nest.ahead.empty() || facts_.deferred().step) return;
  has_fetched_ahead_ = true;
  const ir::Op& result = *facts_.large_result(nest.shape);
  families().streams.count_streamed(result);
  nest.block_size = facts_.block_beside_rows(nest, result);
}

// The pointer to an element of such a row; none: the first.
ir::Value LoopRows::row_ahead(const RowAhead& row, ir::Value index) {
  std::vector<Term> terms = row.step;
  if (index) terms.push_back({index});
  return make(OpKind::Offset, {row.row, in_order(terms)}, type_of(row.row));
}

void LoopRows::fetch_ahead(const LoweredNest& nest, const LoweredPart& part, const LoopRange& range,
                           Statements& list) {
  if (!part.range.holds.value_or(true)) return;
  const bool is_whole = is_zero(range.begin);
  for (const RowAhead& row : nest.ahead)
    call(LibraryKind::FetchAhead,
         {state_.streams, row_ahead(row, is_whole ? ir::Value{} : range.begin),
          is_whole ? range.end : sum({{range.end}, {range.begin, -1}})},
         list);
}

}  // namespace tilewright
