// SPDX-License-Identifier: Apache-2.0
// passes/canonicalize/arithmetic.cpp — folding of constants and neutral operands. Float rules keep
// NaN, infinity and -0.
#include <cmath>
#include <limits>

#include "ir/interpret/elementwise.h"
#include "passes/canonicalize.h"

namespace tilewright {
namespace {

using ir::AttributeValue;
using ir::Element;
using ir::Op;
using ir::OpKind;
using ir::Rewriter;
using ir::Tile;
using ir::Type;
using ir::Value;

Element element_of(const Type& type, const AttributeValue& value) {
  if (type.is_float()) return {.f = std::get<double>(value)};
  return {.i = std::get<std::int64_t>(value)};
}

// f(constant, ...) => constant, as the interpreter computes it
Value fold_constants(Rewriter& rewriter, const Op& op) {
  if (!op.facts().has(ir::Elementwise) || op.operands.empty() || op.operands.size() > 3) return {};
  const Type& type = rewriter.type(op.result());
  if (type.is_pointer || op.kind == OpKind::InlineAsm) return {};
  Tile tiles[3];
  const Tile* operands[3];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const auto constant = rewriter.constant_of(op.operands[i]);
    const Type element = rewriter.type(op.operands[i]).element();
    if (!constant || element.is_pointer) return {};
    tiles[i] = {element, {element_of(element, *constant)}};
    operands[i] = &tiles[i];
  }
  const Element folded =
      interpret_elementwise(op, type.element(), {operands, op.operands.size()}, false).elements[0];
  return rewriter.constant_like(
      type, type.is_float() ? AttributeValue(folded.f) : AttributeValue(folded.i));
}

// constant + x => x + constant
Value constant_right(Rewriter& rewriter, const Op& op) {
  if (!op.facts().has(ir::Commutative)) return {};
  if (!rewriter.constant_of(op.operands[0]) || rewriter.constant_of(op.operands[1])) return {};
  return rewriter.create_one(op.kind, {op.operands[1], op.operands[0]}, rewriter.type(op.result()),
                             op.attributes);
}

// x + 0, x - 0, x | 0, x ^ 0, x << 0, x >> 0 => x; for floats only x - 0, since -0 + 0 is 0
Value neutral_zero(Rewriter& rewriter, const Op& op) {
  const bool is_candidate = op.facts().neutral == ir::Neutral::Zero;
  if (!is_candidate || !rewriter.is_constant(op.operands[1], 0)) return {};
  if (rewriter.type(op.result()).is_float()) {
    const auto zero = rewriter.constant_of(op.operands[1]);
    const bool is_negative = std::signbit(std::get<double>(*zero));
    if (is_negative != (op.kind == OpKind::Add)) return {};
  }
  return op.operands[0];
}

// x * 1, x / 1 => x
Value neutral_one(Rewriter& rewriter, const Op& op) {
  if (op.facts().neutral != ir::Neutral::One) return {};
  return rewriter.is_constant(op.operands[1], 1) ? op.operands[0] : Value{};
}

// -(x * constant) => x * -constant, exact for floats
Value negated_product(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Negate || !rewriter.type(op.result()).is_float()) return {};
  const Op* product = rewriter.made_by(op.operands[0], OpKind::Multiply);
  if (!product) return {};
  const auto factor = rewriter.constant_of(product->operands[1]);
  if (!factor) return {};
  const Type& type = rewriter.type(op.result());
  return rewriter.create_one(
      OpKind::Multiply,
      {product->operands[0], rewriter.constant_like(type, -std::get<double>(*factor))}, type,
      product->attributes);
}

// (x * constant) * 2^n => x * (constant * 2^n) for n >= 0, where that is the same but for one unit of
// a subnormal number: a power above 2 would magnify what the inner product loses below the normal
// numbers, unless the constant is whole and nothing is lost. Floats of few exponents stay as they
// are.
Value scaled_product(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Multiply) return {};
  const Type& type = rewriter.type(op.result());
  if (type.dtype != DType::Float32 && type.dtype != DType::Float64) return {};
  const auto power = rewriter.constant_of(op.operands[1]);
  const Op* product = rewriter.made_by(op.operands[0], OpKind::Multiply);
  if (!power || !product) return {};
  const auto factor = rewriter.constant_of(product->operands[1]);
  int exponent = 0;
  const double fraction = std::abs(std::frexp(std::get<double>(*power), &exponent));
  if (!factor || fraction != 0.5 || exponent < 1) return {};
  const double inner = std::get<double>(*factor), whole = inner * std::get<double>(*power);
  if (std::abs(whole) > std::numeric_limits<float>::max()) return {};
  if (exponent > 2 && inner != std::trunc(inner)) return {};
  return rewriter.create_one(OpKind::Multiply,
                             {product->operands[0], rewriter.constant_like(type, whole)}, type,
                             product->attributes);
}

// x * 0, x & 0 => 0, integers only; x % 1 => 0
Value absorbing(Rewriter& rewriter, const Op& op) {
  if (!op.facts().has(ir::Elementwise)) return {};
  const Type& type = rewriter.type(op.result());
  if (type.is_float() || type.is_pointer) return {};
  const bool by_zero = (op.kind == OpKind::Multiply || op.kind == OpKind::And) &&
                       rewriter.is_constant(op.operands[1], 0);
  const bool by_one = op.kind == OpKind::Remainder && rewriter.is_constant(op.operands[1], 1);
  return by_zero || by_one ? rewriter.constant(type, std::int64_t{0}) : Value{};
}

// b & true => b, b | true => true, for bools
Value bool_identity(Rewriter& rewriter, const Op& op) {
  if ((op.kind != OpKind::And && op.kind != OpKind::Or) || !rewriter.type(op.result()).is_bool())
    return {};
  if (!rewriter.is_constant(op.operands[1], 1)) return {};
  return op.operands[op.kind == OpKind::And ? 0 : 1];
}

// x & x, x | x, min(x, x), max(x, x) => x; x - x, x ^ x => 0 for integers
Value same_operands(Rewriter& rewriter, const Op& op) {
  if (!op.facts().has(ir::Elementwise)) return {};
  if (op.operands.size() != 2 || op.operands[0] != op.operands[1]) return {};
  const Type& type = rewriter.type(op.result());
  if (op.facts().has(ir::Idempotent)) return op.operands[0];
  const bool cancels = op.kind == OpKind::Subtract || op.kind == OpKind::Xor;
  return cancels && !type.is_float() ? rewriter.constant(type, std::int64_t{0}) : Value{};
}

// integer compare(x, x) => constant
Value compare_same(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Compare || op.operands[0] != op.operands[1] ||
      rewriter.type(op.operands[0]).is_float())
    return {};
  const std::string_view is = op.text("is");
  const bool holds = is == "eq" || is == "le" || is == "ge";
  return rewriter.constant(rewriter.type(op.result()), std::int64_t{holds});
}

// arange(a, b) < constant, and its like => constant, where it is the same for the first element and
// the last one: a mask of columns that all exist, applied to values
Value compare_range(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Compare) return {};
  const Op* range = rewriter.made_by(op.operands[0], OpKind::Arange);
  const auto constant = rewriter.constant_of(op.operands[1]);
  const std::string_view is = op.text("is");
  if (!range || !constant || is == "eq" || is == "ne") return {};
  const std::int64_t limit = std::get<std::int64_t>(*constant), first = range->integer("start");
  const auto holds = [&](std::int64_t x) {
    return is == "lt" ? x < limit : is == "le" ? x <= limit : is == "gt" ? x > limit : x >= limit;
  };
  const bool at_first = holds(first);
  if (at_first != holds(first + rewriter.type(range->result()).numel() - 1)) return {};
  return rewriter.constant(rewriter.type(op.result()), std::int64_t{at_first});
}

// x / 2^n => x * 2^-n, which is the same number
Value divided_by_power(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Divide) return {};
  const Type& type = rewriter.type(op.result());
  if (!type.is_float() || type.element_bytes() < 2) return {};
  const auto constant = rewriter.constant_of(op.operands[1]);
  int exponent = 0;
  if (!constant || std::abs(std::frexp(std::get<double>(*constant), &exponent)) != 0.5) return {};
  const int most = type.dtype == DType::Float16 ? 14 : 126;  // both are normal numbers
  if (std::abs(exponent - 1) > most) return {};
  return rewriter.create_one(
      OpKind::Multiply,
      {op.operands[0], rewriter.constant_like(type, 1 / std::get<double>(*constant))}, type);
}

// select(true, a, b) => a; select(false, a, b) => b; select(c, a, a) => a
Value known_select(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Select) return {};
  if (op.operands[1] == op.operands[2]) return op.operands[1];
  const auto condition = rewriter.constant_of(op.operands[0]);
  if (!condition) return {};
  return op.operands[std::get<std::int64_t>(*condition) ? 1 : 2];
}

// cast to its own type => x; a widening cast of an integer cast back => x
Value needless_cast(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Cast && op.kind != OpKind::Bitcast) return {};
  const Type& type = rewriter.type(op.result());
  if (rewriter.type(op.operands[0]) == type) return op.operands[0];
  const Op* inner = rewriter.made_by(op.operands[0], op.kind);
  if (!inner || rewriter.type(inner->operands[0]) != type) return {};
  if (op.kind == OpKind::Bitcast) return inner->operands[0];
  const Type& middle = rewriter.type(op.operands[0]);
  const bool widens =
      type.is_int() && middle.is_int() && middle.element_bytes() > type.element_bytes();
  return widens ? inner->operands[0] : Value{};
}

constexpr ir::Rule arithmetic[] = {fold_constants,  constant_right, neutral_zero, neutral_one,
                                   negated_product, scaled_product, absorbing,    bool_identity,
                                   same_operands,   compare_same,   compare_range, divided_by_power,
                                   known_select,    needless_cast};

}  // namespace

std::span<const ir::Rule> arithmetic_rules() { return arithmetic; }

}  // namespace tilewright
