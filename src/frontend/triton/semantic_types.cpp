// SPDX-License-Identifier: Apache-2.0
// frontend/triton/semantic_types.cpp — casts, broadcasting, and ops on operands that already agree.
#include <fmt/format.h>

#include "frontend/triton/constants.h"
#include "frontend/triton/semantic.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

std::string rounding_mode(std::string_view rounding, const ir::Type& from, const ir::Type& to) {
  if (rounding.empty()) return "";
  if (rounding != "rtne" && rounding != "rtz")
    throw Mistake{fmt::format("fp_downcast_rounding is '{}'", rounding), "use 'rtne' or 'rtz'"};
  if (!from.is_float() || !to.is_float() || bits_of(to) >= bits_of(from))
    throw Mistake{fmt::format("fp_downcast_rounding is for narrowing floats, not for {} to {}",
                              text_of(from.element()), text_of(to)),
                  "leave it out"};
  return rounding == "rtz" ? "rtz" : "";
}

// As NVIDIA's conversions, which Triton uses: floats that are beyond an 8-bit float become its
// largest number.
std::string cast_mode(std::string_view rounding, const ir::Type& from, const ir::Type& to) {
  const std::string mode = rounding_mode(rounding, from, to);
  const bool saturates = mode.empty() && from.is_float() && is_float8(to) && !is_float8(from);
  return saturates ? "saturate" : mode;
}

bool fits(const Value& number, DType dtype) {
  const std::optional<Int128> integer = integer_of(number);
  if (!integer || is_floating(dtype) || dtype == b1) return true;
  return *integer >= range_of(dtype).first && *integer <= range_of(dtype).second;
}

// The op that does on bools what another does on 0 and 1.
std::optional<OpKind> bool_kind(OpKind kind) {
  constexpr std::pair<OpKind, OpKind> kinds[] = {
      {OpKind::Add, OpKind::Xor},      {OpKind::Subtract, OpKind::Xor},
      {OpKind::Multiply, OpKind::And}, {OpKind::Minimum, OpKind::And},
      {OpKind::Maximum, OpKind::Or},   {OpKind::And, OpKind::And},
      {OpKind::Or, OpKind::Or},        {OpKind::Xor, OpKind::Xor}};
  for (const auto& [number, on_bools] : kinds)
    if (number == kind) return on_bools;
  return std::nullopt;
}

}  // namespace

// ---- Casts

ir::Value Semantic::cast_pointer(ir::Value value, const ir::Type& target) {
  const ir::Type from = type(value);
  const auto as = [&](ir::Value operand, const ir::Type& element) {
    return builder_.create_one(OpKind::Cast, {operand}, element.with_shape_of(from));
  };
  const bool is_wide = from.is_pointer || from.dtype == i64 || from.dtype == u64;
  if (target.is_pointer && is_integral(from))
    return as(is_wide ? value : builder_.cast(value, i64), target);
  if (target.is_pointer && from.is_pointer) return as(value, target);
  if (target.is_int() && bits_of(target) == 64) return as(value, target);
  if (target.is_bool()) return builder_.cast(as(value, ir::Type::scalar(i64)), b1);
  throw Mistake{fmt::format("{} cannot be cast to {}", text_of(from), text_of(target)),
                "pointers cast to tl.int64, tl.uint64 and other pointers"};
}

ir::Value Semantic::cast(ir::Value value, const ir::Type& element, bool bitcast,
                         std::string_view rounding) {
  const ir::Type from = type(value);
  const ir::Type target = element.element();
  if (from.element() == target) return value;
  if (from.is_pointer || target.is_pointer) return cast_pointer(value, target);
  if (bitcast) {
    if (bits_of(from) != bits_of(target))
      throw Mistake{fmt::format("bitcast of {} to {} changes the width from {} to {} bits",
                                text_of(from), text_of(target), bits_of(from), bits_of(target)),
                    ""};
    return builder_.bitcast(value, target.dtype);
  }
  const std::string mode = cast_mode(rounding, from, target);
  if ((is_float8(from) && !target.is_float()) || (is_float8(target) && !from.is_float()))
    throw Mistake{fmt::format("{} cannot be cast to {}", text_of(from.element()), text_of(target)),
                  "cast to tl.float32 first"};
  if (mode.empty()) return builder_.cast(value, target.dtype);
  return builder_.create_one(OpKind::Cast, {value}, target.with_shape_of(from),
                             {{"rounding", mode}});
}

// ---- Shapes

ir::Value Semantic::broadcast_to(ir::Value value, const std::vector<std::int64_t>& shape) {
  const ir::Type from = type(value);
  const ir::Type to = from.with_shape(shape);
  if (from.is_scalar()) return builder_.splat(value, to);
  const auto fail = [&](const std::string& why) {
    throw Mistake{
        fmt::format("{} cannot be broadcast to {}: {}", text_of(from), text_of_shape(shape), why),
        ""};
  };
  if (from.rank != to.rank) fail(fmt::format("it has rank {}, not {}", from.rank, to.rank));
  for (int d = 0; d < to.rank; ++d)
    if (from.size(d) != to.size(d) && from.size(d) != 1)
      fail(fmt::format("dimension {} has the size {}", d, from.size(d)));
  return builder_.broadcast(value, to);
}

std::pair<ir::Value, ir::Value> Semantic::broadcast(ir::Value a, ir::Value b) {
  if (type(a).is_scalar()) return {like(a, type(b)), b};
  if (type(b).is_scalar()) return {a, like(b, type(a))};
  while (type(a).rank < type(b).rank) a = expand_dims(a, 0);
  while (type(b).rank < type(a).rank) b = expand_dims(b, 0);
  std::vector<std::int64_t> shape = type(a).shape();
  for (int d = 0; d < type(a).rank; ++d) {
    const std::int64_t left = type(a).size(d), right = type(b).size(d);
    if (left != right && left != 1 && right != 1)
      throw Mistake{fmt::format("shapes {} and {} do not fit: dimension {} is {} and {}",
                                text_of_shape(type(a).shape()), text_of_shape(type(b).shape()), d,
                                left, right),
                    ""};
    shape[static_cast<std::size_t>(d)] = std::max(left, right);
  }
  return {broadcast_to(a, shape), broadcast_to(b, shape)};
}

ir::Value Semantic::like(ir::Value scalar_or_tile, const ir::Type& shape) {
  if (shape.is_scalar()) return scalar_or_tile;
  return broadcast_to(scalar_or_tile, shape.shape());
}

ir::Value Semantic::expand_dims(ir::Value value, int axis) {
  std::vector<std::int64_t> shape = type(value).shape();
  const int rank = static_cast<int>(shape.size()) + 1;
  if (axis < -rank || axis >= rank)
    throw Mistake{fmt::format("axis {} is out of the range of {} dimensions", axis, rank), ""};
  shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis), 1);
  if (type(value).is_scalar()) return broadcast_to(value, shape);
  return builder_.reshape(value, shape);
}

// ---- Operands

std::pair<ir::Value, ir::Value> Semantic::operands(const Value& a, const Value& b,
                                                   std::string_view op, Literals literals,
                                                   bool divides) {
  const auto operand_type = [&](const Value& value) -> OperandType {
    if (is_number(value)) return {type_of_number(value), literals == Literals::Weak};
    const ir::Type& operand = type(tensor(value));
    if (!operand.is_pointer) return {operand.dtype, false};
    throw Mistake{fmt::format("'{}' does not work on {} and {}", op, describe(kernel(), a),
                              describe(kernel(), b)),
                  ""};
  };
  const DType common = promote(operand_type(a), operand_type(b), divides);
  const auto convert = [&](const Value& value) {
    if (is_number(value) && (literals == Literals::Weak || fits(value, common)))
      return constant(value, common);
    return cast(tensor(value), ir::Type::scalar(common));
  };
  const ir::Value x = convert(a);
  return broadcast(x, convert(b));
}

ir::Value Semantic::select(const Value& condition, const Value& a, const Value& b) {
  const ir::Value chosen = cast(tensor(condition), ir::Type::scalar(b1));
  const auto is_pointer = [&](const Value& value) {
    return value.is_tensor() && type(*value.get_if<ir::Value>()).is_pointer;
  };
  ir::Value x, y;
  if (is_pointer(a) || is_pointer(b)) {
    std::tie(x, y) = broadcast(tensor(a), tensor(b));
    if (type(x) != type(y))
      throw Mistake{fmt::format("tl.where cannot choose between {} and {}", describe(kernel(), a),
                                describe(kernel(), b)),
                    ""};
  } else {
    std::tie(x, y) = operands(a, b, "tl.where", Literals::Weak);
  }
  const ir::Value shaped = broadcast(chosen, x).first;
  x = broadcast(shaped, x).second;
  y = broadcast(shaped, y).second;
  return builder_.select(shaped, x, y);
}

// ---- Ops

ir::Value Semantic::arithmetic(OpKind kind, ir::Value a, ir::Value b) {
  if (!type(a).is_bool()) return builder_.binary(kind, a, b);
  if (const std::optional<OpKind> on_bools = bool_kind(kind))
    return builder_.binary(*on_bools, a, b);
  const ir::Value wide = builder_.binary(kind, builder_.cast(a, u32), builder_.cast(b, u32));
  return builder_.cast(wide, b1);
}

// Of floats it is 0 - value, as Triton has it: of 0 that is 0 and not -0.
ir::Value Semantic::negate(ir::Value value) {
  if (type(value).is_bool()) return value;
  if (!type(value).is_float()) return builder_.unary(OpKind::Negate, value);
  return builder_.binary(OpKind::Subtract, builder_.constant(type(value), 0.0), value);
}

ir::Value Semantic::invert(ir::Value value) {
  const ir::Type operand = type(value);
  const ir::Value ones =
      builder_.constant(operand.element(), std::int64_t{operand.is_bool() ? 1 : -1});
  return builder_.binary(OpKind::Xor, value, like(ones, operand));
}

ir::Value Semantic::move_pointer(ir::Value pointers, ir::Value offset) {
  // Offsets are signed; a short unsigned one is made wider so that it stays positive.
  if (is_unsigned_integral(type(offset)) && bits_of(type(offset)) < 64)
    offset = builder_.cast(offset, i64);
  return builder_.offset(pointers, offset);
}

}  // namespace tilewright::triton
