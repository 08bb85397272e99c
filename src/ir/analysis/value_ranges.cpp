// SPDX-License-Identifier: Apache-2.0
// ir/analysis/value_ranges.cpp — ranges op by op, and what is known of maxima along an axis.
#include "ir/analysis/value_ranges.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret/tile.h"

namespace tilewright::ir {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// More than the error of any function of the device libraries.
constexpr double slack = 1e-5;

Range joined(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// 0 * infinity is a NaN, which no range speaks of; the finite neighbours of it give 0.
double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Range product(const Range& a, const Range& b) {
  const auto [low, high] = std::minmax({product(a.low, b.low), product(a.low, b.high),
                                        product(a.high, b.low), product(a.high, b.high)});
  return {low, high};
}

Range negated(const Range& a) { return {-a.high, -a.low}; }

// A sum of infinities of both signs is a NaN.
Range sum(const Range& a, const Range& b) {
  const double low = a.low + b.low, high = a.high + b.high;
  return {std::isnan(low) ? -infinity : low, std::isnan(high) ? infinity : high};
}

Range magnitude(const Range& a) {
  const double high = std::max(-a.low, a.high);
  return {a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, high};
}

Range quotient(const Range& a, const Range& b) {
  if (!(b.low > 0)) return {};
  return product(a, {1 / b.high, 1 / b.low});
}

Range widened(const Range& range) {
  const auto away = [](double number, double sign) {
    return number + sign * slack * std::abs(number);
  };
  return {std::isinf(range.low) ? range.low : away(range.low, -1),
          std::isinf(range.high) ? range.high : away(range.high, 1)};
}

Range of_function(std::string_view name, const Range& x) {
  if (name == "exp") return widened({std::exp(x.low), std::exp(x.high)});
  if (name == "exp2") return widened({std::exp2(x.low), std::exp2(x.high)});
  if (name == "sqrt" || name == "sqrt_rn")
    return widened({std::sqrt(std::max(x.low, 0.0)), x.high < 0 ? infinity : std::sqrt(x.high)});
  if (name == "rsqrt") return {x.low > 0 ? 0 : -infinity, infinity};  // of -0 it is -infinity
  if (name == "cosh" || name == "hypot") return {0, infinity};
  if (name == "tanh" || name == "erf" || name == "sin" || name == "cos") return widened({-1, 1});
  return {};
}

// What numbers between the bounds are as floats of the type: beyond the largest one infinite, below
// the smallest one 0.
Range rounded(const Type& type, const Range& range) {
  const auto bound = [&](double number) {
    const double is = round_to(type.dtype, number);
    if (std::isnan(is) || std::isinf(is)) return std::copysign(infinity, number);
    return is == 0 ? 0 : number;
  };
  return {bound(range.low), bound(range.high)};
}

// The one op of a combination of two scalars; null for more.
const Op* only_combining(const Op& op) {
  const Region& region = op.regions[0];
  const bool is_single = region.arguments.size() == 2 && region.ops.size() == 2 &&
                         region.ops[0]->operands.size() == 2 &&
                         region.ops[1]->operands == region.ops[0]->results;
  if (!is_single) return nullptr;
  const std::vector<Value>& operands = region.ops[0]->operands;
  const bool takes_both = operands == region.arguments || (operands[0] == region.arguments[1] &&
                                                           operands[1] == region.arguments[0]);
  return takes_both ? region.ops[0] : nullptr;
}

}  // namespace

ValueRanges::ValueRanges(const Kernel& kernel) : kernel_(kernel), ranges_(kernel.value_count()) {
  visit(kernel.body);
}

Range ValueRanges::of(Value value) const {
  return value.id < ranges_.size() ? ranges_[value.id] : Range{};
}

// What loops carry is not followed: their values may be any number.
void ValueRanges::visit(const Region& region) {
  for (const Op* op : region.ops) {
    for (const Region& inner : op->regions) visit(inner);
    note(*op);
  }
}

void ValueRanges::note(const Op& op) {
  if (op.kind == OpKind::If) {
    const std::vector<Value>&first = op.regions[0].ops.back()->operands,
          &second = op.regions[1].ops.back()->operands;
    for (std::size_t k = 0; k < op.results.size(); ++k)
      ranges_[op.results[k].id] = joined(of(first[k]), of(second[k]));
    return;
  }
  for (const Value result : op.results)
    if (kernel_.type(result).is_float() && !kernel_.type(result).is_pointer)
      ranges_[result.id] = rounded(kernel_.type(result), of_result(op));
}

bool ValueRanges::is_never_nan(Value value) const {
  const Op* op = kernel_.maker(value);
  while (op && op->facts().maps(Spread | Repeated)) op = kernel_.maker(op->operands[0]);
  if (!op || op->kind != OpKind::Constant) return false;
  const auto* number = std::get_if<double>(op->find("value"));
  return number && !std::isnan(*number);
}

// A NaN loses against a number unless it is kept, so a bound holds only where the other operand
// keeps it too, or where the one that has it is never a NaN.
Range ValueRanges::of_larger(const Op& op, bool is_maximum) const {
  Range a = of(op.operands[0]), b = of(op.operands[1]);
  if (!is_maximum) a = negated(a), b = negated(b);
  Range out{std::min(a.low, b.low), std::max(a.high, b.high)};
  if (op.text("nan") == "propagate") out.low = std::max(a.low, b.low);
  if (is_never_nan(op.operands[0])) out.low = std::max(out.low, a.low);
  if (is_never_nan(op.operands[1])) out.low = std::max(out.low, b.low);
  return is_maximum ? out : negated(out);
}

Range ValueRanges::of_binary(const Op& op) const {
  const Range a = of(op.operands[0]), b = of(op.operands[1]);
  if (op.kind == OpKind::Add) return sum(a, b);
  if (op.kind == OpKind::Multiply)
    return op.operands[0] == op.operands[1] ? product(magnitude(a), magnitude(a)) : product(a, b);
  Range out = sum(a, negated(b));
  if (is_nowhere_below(op.operands[1], op.operands[0])) out.high = std::min(out.high, 0.0);
  return out;
}

Range ValueRanges::of_reduction(const Op& op) const {
  const Op* only = op.operands.size() == 1 ? only_combining(op) : nullptr;
  if (!only) return {};
  const Range each = of(op.operands[0]);
  if (only->kind == OpKind::Maximum || only->kind == OpKind::Minimum) return each;
  if (only->kind != OpKind::Add) return {};
  const int axis = static_cast<int>(op.integer("axis"));
  const auto count = static_cast<double>(kernel_.type(op.operands[0]).size(axis));
  const Range all = widened(product(each, {count, count}));
  Range out{each.low >= 0 ? 0 : all.low, each.high <= 0 ? 0 : all.high};
  const std::optional<Attained> one = attained(op.operands[0]);
  if (one && one->axis == axis && each.low >= 0 && !op.find("parts")) out.low = std::max(out.low, one->number);
  return out;
}

Range ValueRanges::of_cast(const Op& op) const {
  const Type& from = kernel_.type(op.operands[0]);
  if (from.is_float()) return of(op.operands[0]);
  return is_signed(from.dtype) ? Range{} : Range{0, infinity};
}

Range ValueRanges::of_elementwise(const Op& op) const {
  switch (elementwise_op(op.kind)) {
    case ElementwiseOp::Select:
      return joined(of(op.operands[1]), of(op.operands[2]));
    case ElementwiseOp::Cast:
      return of_cast(op);
    case ElementwiseOp::Add:
    case ElementwiseOp::Subtract:
    case ElementwiseOp::Multiply:
      return of_binary(op);
    case ElementwiseOp::Divide:
      return widened(quotient(of(op.operands[0]), of(op.operands[1])));
    case ElementwiseOp::Fma:
      return sum(product(of(op.operands[0]), of(op.operands[1])), of(op.operands[2]));
    case ElementwiseOp::Maximum:
    case ElementwiseOp::Minimum:
      return of_larger(op, op.kind == OpKind::Maximum);
    case ElementwiseOp::Negate:
      return negated(of(op.operands[0]));
    case ElementwiseOp::Absolute:
      return magnitude(of(op.operands[0]));
    case ElementwiseOp::Math:
      return of_function(op.text("function"), of(op.operands[0]));
    case ElementwiseOp::Remainder:
    case ElementwiseOp::Bitcast:
    case ElementwiseOp::InlineAsm:
      break;  // any float
    case ElementwiseOp::MultiplyHigh:
    case ElementwiseOp::And:
    case ElementwiseOp::Or:
    case ElementwiseOp::Xor:
    case ElementwiseOp::ShiftLeft:
    case ElementwiseOp::ShiftRight:
    case ElementwiseOp::Compare:
    case ElementwiseOp::Offset:
      break;  // no float
  }
  return {};
}

Range ValueRanges::of_across(const Op& op) const {
  switch (across_op(op.kind)) {
    case AcrossOp::Gather:
    case AcrossOp::Sort:
      return of(op.operands[0]);
    case AcrossOp::Concatenate:
      return joined(of(op.operands[0]), of(op.operands[1]));
    case AcrossOp::ReadBuffer:
    case AcrossOp::Scan:
    case AcrossOp::Dot:
    case AcrossOp::Histogram:
    case AcrossOp::Print:
    case AcrossOp::StoreMap:
      break;
  }
  return {};
}

Range ValueRanges::of_result(const Op& op) const {
  const OpFacts& facts = op.facts();
  if (facts.is(Family::Elementwise)) return of_elementwise(op);
  if (facts.is(Family::Across)) return of_across(op);
  if (facts.is(Family::Reduction)) return of_reduction(op);
  if (facts.maps(Merged)) return joined(of(op.operands[0]), of(op.operands[1]));
  if (facts.maps(Same | Spread | Repeated | Reshaped | Permuted | Halved))
    return of(op.operands[0]);
  if (!facts.maps(Alike)) return {};
  const auto* number = std::get_if<double>(op.find("value"));
  return number && !std::isnan(*number) ? Range{*number, *number} : Range{};
}

// ---- Tiles and their maxima

// The axis along which `value` is exactly the maximum of `tile`, put back where the tile has it.
std::optional<int> ValueRanges::axis_of_maximum(Value value, Value tile) const {
  const Type& whole = kernel_.type(tile);
  const Op* reshape = nullptr;
  const Op* op = kernel_.maker(value);
  for (; op && op->kind != OpKind::Reduce; op = kernel_.maker(op->operands[0])) {
    if (op->kind == OpKind::Reshape && !reshape) reshape = op;
    else if (!op->facts().maps(Spread | Repeated | Same)) return std::nullopt;
  }
  const Op* only = op && op->operands.size() == 1 ? only_combining(*op) : nullptr;
  if (!only || only->kind != OpKind::Maximum || op->operands[0] != tile || op->find("parts"))
    return std::nullopt;
  const int axis = static_cast<int>(op->integer("axis"));
  if (!reshape) return whole.rank == 1 ? std::optional(axis) : std::nullopt;
  const Type& back = kernel_.type(reshape->result());
  if (back.rank != whole.rank) return std::nullopt;
  for (int d = 0; d < back.rank; ++d)
    if (back.size(d) != (d == axis ? 1 : whole.size(d))) return std::nullopt;
  return axis;
}

// Each element of `value` is at least the element of `tile` that it meets, where both are numbers.
bool ValueRanges::is_nowhere_below(Value value, Value tile) const {
  if (axis_of_maximum(value, tile)) return true;
  const Op* op = kernel_.maker(value);
  if (!op) return false;
  if (op->facts().maps(Spread | Repeated | Same)) return is_nowhere_below(op->operands[0], tile);
  if (op->kind != OpKind::Maximum) return false;
  return is_nowhere_below(op->operands[0], tile) || is_nowhere_below(op->operands[1], tile);
}

std::optional<ValueRanges::Attained> ValueRanges::attained(Value value) const {
  const Op* op = kernel_.maker(value);
  if (!op) return std::nullopt;
  if (op->kind == OpKind::Subtract) {
    const std::optional<int> axis = axis_of_maximum(op->operands[1], op->operands[0]);
    return axis ? std::optional(Attained{*axis, 0}) : std::nullopt;
  }
  if (op->kind == OpKind::Cast && kernel_.type(op->operands[0]).is_float())
    return attained(op->operands[0]);
  const bool is_power =
      op->kind == OpKind::Math && (op->text("function") == "exp" || op->text("function") == "exp2");
  const std::optional<Attained> exponent = is_power ? attained(op->operands[0]) : std::nullopt;
  return exponent && exponent->number == 0 ? std::optional(Attained{exponent->axis, 1})
                                           : std::nullopt;
}

}  // namespace tilewright::ir
