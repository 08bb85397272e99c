// SPDX-License-Identifier: Apache-2.0
// frontend/triton/semantic.cpp — operators of the language, and what constants become.
#include "frontend/triton/semantic.h"

#include <fmt/format.h>

#include "base/check.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;
using python::BinaryOperator;
using python::BoolOperator;
using python::CompareOperator;
using python::UnaryOperator;

bool is_bitwise(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::BitAnd:
    case BinaryOperator::BitOr:
    case BinaryOperator::BitXor:
    case BinaryOperator::ShiftLeft:
    case BinaryOperator::ShiftRight:
      return true;
    default:
      return false;
  }
}

bool divides(BinaryOperator op) {
  return op == BinaryOperator::Divide || op == BinaryOperator::FloorDivide ||
         op == BinaryOperator::Modulo;
}

OpKind kind_of(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::Add:
      return OpKind::Add;
    case BinaryOperator::Subtract:
      return OpKind::Subtract;
    case BinaryOperator::Multiply:
      return OpKind::Multiply;
    case BinaryOperator::Divide:
    case BinaryOperator::FloorDivide:
      return OpKind::Divide;
    case BinaryOperator::Modulo:
      return OpKind::Remainder;
    case BinaryOperator::BitAnd:
      return OpKind::And;
    case BinaryOperator::BitOr:
      return OpKind::Or;
    case BinaryOperator::BitXor:
      return OpKind::Xor;
    case BinaryOperator::ShiftLeft:
      return OpKind::ShiftLeft;
    case BinaryOperator::ShiftRight:
      return OpKind::ShiftRight;
    default:
      TW_UNREACHABLE("'{}' is no op on tensors", text_of(op));
  }
}

DType with_other_sign(DType dtype) {
  constexpr DType pairs[][2] = {{i8, u8}, {i16, u16}, {i32, u32}, {i64, u64}};
  for (const auto& [with, without] : pairs)
    if (dtype == with || dtype == without) return dtype == with ? without : with;
  TW_UNREACHABLE("{} has no sign", name_of(dtype));
}

std::string_view predicate_of(CompareOperator op) {
  switch (op) {
    case CompareOperator::Equal:
      return "eq";
    case CompareOperator::NotEqual:
      return "ne";
    case CompareOperator::Less:
      return "lt";
    case CompareOperator::LessEqual:
      return "le";
    case CompareOperator::Greater:
      return "gt";
    case CompareOperator::GreaterEqual:
      return "ge";
    default:
      return {};
  }
}

}  // namespace

// ---- Operators

Value Semantic::binary(BinaryOperator op, const Value& a, const Value& b) {
  if (!a.is_tensor() && !b.is_tensor()) return fold(op, a, b);
  const auto is_pointer = [&](const Value& value) {
    return value.is_tensor() && type(*value.get_if<ir::Value>()).is_pointer;
  };
  if (is_pointer(a) || is_pointer(b)) return add_pointer(op, a, b);
  if (op == BinaryOperator::Power)
    throw Mistake{"'**' works only on constants",
                  "use tl.exp2(y * tl.log2(x)) or libdevice.pow(x, y)"};
  if (op == BinaryOperator::MatrixMultiply)
    throw Mistake{"'@' does not work on tensors", "use tl.dot(a, b)"};

  auto [x, y] = operands(a, b, text_of(op), Literals::Weak, divides(op));
  const ir::Type operand = type(x);
  if (is_bitwise(op) && !is_integral(operand))
    throw Mistake{fmt::format("'{}' works on integers, not on {} and {}", text_of(op),
                              describe(kernel(), a), describe(kernel(), b)),
                  "use .to(..., bitcast=True) to get at the bits of a float"};
  if (op == BinaryOperator::Divide && is_integral(operand)) {
    x = cast(x, ir::Type::scalar(f32));
    y = cast(y, ir::Type::scalar(f32));
  }
  if (op == BinaryOperator::FloorDivide && operand.is_float())
    throw Mistake{fmt::format("'//' works on integers, not on {} and {}", describe(kernel(), a),
                              describe(kernel(), b)),
                  "use tl.floor(x / y)"};
  if (op == BinaryOperator::ShiftRight && fills_otherwise(a, b, operand)) {
    const DType as = with_other_sign(operand.dtype);
    const ir::Value moved =
        builder_.binary(OpKind::ShiftRight, builder_.cast(x, as), builder_.cast(y, as));
    return builder_.cast(moved, operand.dtype);
  }
  return arithmetic(kind_of(op), x, y);
}

// Whether the first tensor alone decides with what `>>` fills the upper bits: int8 >> uint8 is a
// uint8 with the sign in them. (What was unsigned and is wider now has no sign.)
bool Semantic::fills_otherwise(const Value& a, const Value& b, const ir::Type& operand) const {
  const Value& first = a.is_tensor() ? a : b;
  const bool has_sign = is_signed(type(*first.get_if<ir::Value>()).dtype);
  return has_sign != is_signed(operand.dtype) && !operand.is_bool() && (has_sign || !a.is_tensor());
}

Value Semantic::add_pointer(BinaryOperator op, const Value& a, const Value& b) {
  ir::Value x = tensor(a), y = tensor(b);
  if (op == BinaryOperator::Add && type(y).is_pointer && !type(x).is_pointer) std::swap(x, y);
  const bool is_move = op == BinaryOperator::Add || op == BinaryOperator::Subtract;
  if (!is_move || !type(x).is_pointer || !is_integral(type(y)))
    throw Mistake{fmt::format("'{}' does not work on {} and {}", text_of(op), describe(kernel(), a),
                              describe(kernel(), b)),
                  "a pointer takes only '+' and '-' with an integer"};
  std::tie(x, y) = broadcast(x, y);
  return move_pointer(x, op == BinaryOperator::Subtract ? negate(y) : y);
}

Value Semantic::unary(UnaryOperator op, const Value& a) {
  if (op == UnaryOperator::Not) {
    if (!a.is_tensor()) return Value::boolean(!truth(a));
    return invert(logical_operand("not", a));
  }
  if (!a.is_tensor()) return fold(op, a);
  const ir::Value value = *a.get_if<ir::Value>();
  if (op == UnaryOperator::Plus) return value;
  const ir::Type& operand = type(value);
  if (operand.is_pointer || (op == UnaryOperator::Invert && operand.is_float()))
    throw Mistake{fmt::format("unary '{}' does not work on {}", text_of(op), describe(kernel(), a)),
                  ""};
  return op == UnaryOperator::Negate ? negate(value) : invert(value);
}

Value Semantic::compare(CompareOperator op, const Value& a, const Value& b) {
  if (op == CompareOperator::Is || op == CompareOperator::IsNot)
    return Value::boolean(fold(op, a, b));
  if (!a.is_tensor() && !b.is_tensor()) return Value::boolean(fold(op, a, b));
  const std::string_view predicate = predicate_of(op);
  if (predicate.empty())
    throw Mistake{fmt::format("'{}' does not work on tensors", text_of(op)), ""};
  // What is no number is never equal to a tensor: `if mask == None` asks whether there is one.
  const bool is_equality = op == CompareOperator::Equal || op == CompareOperator::NotEqual;
  if (is_equality && (a.is_none() || b.is_none()))
    return Value::boolean(op == CompareOperator::NotEqual);
  const auto [x, y] = operands(a, b, text_of(op), Literals::Strong);
  return compare(predicate, x, y);
}

ir::Value Semantic::logical_operand(std::string_view op, const Value& value) {
  const ir::Value operand = tensor(value);
  if (type(operand).is_bool()) return operand;
  throw Mistake{fmt::format("'{}' needs an int1, but gets {}", op, describe(kernel(), value)),
                "compare it first, as in x != 0"};
}

Value Semantic::logical(BoolOperator op, const Value& a, const Value& b) {
  const bool is_and = op == BoolOperator::And;
  if (!a.is_tensor() && !b.is_tensor()) return truth(a) == is_and ? b : a;
  const std::string_view name = is_and ? "and" : "or";
  const auto [x, y] = broadcast(logical_operand(name, a), logical_operand(name, b));
  return builder_.binary(is_and ? OpKind::And : OpKind::Or, x, y);
}

// ---- Constants

bool Semantic::truth(const Value& value) {
  if (const std::optional<double> number = number_of(value)) return *number != 0;
  if (value.is_none()) return false;
  if (const Tuple* tuple = value.tuple()) return !tuple->items.empty();
  if (const Constant* constant = value.get_if<Constant>())
    return !std::get<std::string>(constant->value).empty();
  if (value.is_tensor())
    throw Mistake{fmt::format("{} is not known at compile time", describe(kernel(), value)), ""};
  return true;
}

ir::Value Semantic::tensor(const Value& value) {
  if (const ir::Value* tensor = value.get_if<ir::Value>()) return *tensor;
  if (is_number(value)) return constant(value, type_of_number(value));
  throw Mistake{fmt::format("a tensor or a number is needed, not {}", describe(kernel(), value)),
                ""};
}

Value Semantic::materialize(const Value& value) {
  if (is_number(value)) return tensor(value);
  return value;
}

ir::Value Semantic::constant(const Value& number, DType dtype) {
  const ir::Type scalar = ir::Type::scalar(dtype);
  // A constant that equals 0 is +0, as in Triton.
  if (is_floating(dtype)) return builder_.constant(scalar, *number_of(number) + 0.0);
  if (dtype == b1) return builder_.constant(scalar, std::int64_t{truth(number)});
  const std::optional<Int128> integer = integer_of(number);
  const Int128 value = integer ? *integer : static_cast<Int128>(*number_of(number));
  const auto [smallest, largest] = range_of(dtype);
  if (value < smallest || value > largest)
    throw Mistake{
        fmt::format("the constant {} is out of the range of {}", to_text(value), text_of(scalar)),
        value < 0 && smallest == 0 ? "cast the tensor to a signed type" : ""};
  return builder_.constant(scalar, static_cast<std::int64_t>(value));
}

std::int64_t Semantic::constant_integer(const Value& value, std::string_view what) {
  const std::optional<Int128> integer = integer_of(value);
  if (!integer)
    throw Mistake{
        fmt::format("{} must be a constant integer, not {}", what, describe(kernel(), value)),
        value.is_tensor() ? "use a tl.constexpr" : ""};
  if (*integer < range_of(i64).first || *integer > range_of(i64).second)
    throw Mistake{fmt::format("{} does not fit 64 bits", what), ""};
  return static_cast<std::int64_t>(*integer);
}

bool Semantic::constant_bool(const Value& value, std::string_view what) {
  if (value.is_constant()) return truth(value);
  throw Mistake{fmt::format("{} must be True or False, not {}", what, describe(kernel(), value)),
                value.is_tensor() ? "use a tl.constexpr" : ""};
}

std::string Semantic::constant_text(const Value& value, std::string_view what) {
  const Constant* constant_value = value.get_if<Constant>();
  if (value.is_none()) return "";
  if (constant_value)
    if (const std::string* text = std::get_if<std::string>(&constant_value->value)) return *text;
  throw Mistake{fmt::format("{} must be a text, not {}", what, describe(kernel(), value)), ""};
}

std::vector<std::int64_t> Semantic::shape(const Value& value, std::string_view what) {
  std::vector<std::int64_t> sizes;
  if (const Tuple* tuple = value.tuple())
    for (const Value& item : tuple->items)
      sizes.push_back(constant_integer(item, fmt::format("a size of {}", what)));
  else sizes.push_back(constant_integer(value, what));
  constexpr std::int64_t most = 1048576;
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size <= 0 || (size & (size - 1)) != 0)
      throw Mistake{fmt::format("{} has the size {}, which is no power of two", what, size),
                    "use triton.next_power_of_2 outside the kernel, and a mask"};
    elements = size > most ? most + 1 : elements * size;
    if (elements > most)
      throw Mistake{
          fmt::format("{} {} has more than {} elements", what, text_of_shape(sizes), most),
          "use smaller blocks"};
  }
  if (sizes.size() > static_cast<std::size_t>(ir::Type::max_rank))
    throw Mistake{fmt::format("{} has {} dimensions; at most {} are possible", what, sizes.size(),
                              ir::Type::max_rank),
                  ""};
  return sizes;
}

ir::Value Semantic::condition(const Value& value) {
  ir::Value scalar = tensor(value);
  if (type(scalar).is_tile()) {
    if (type(scalar).numel() != 1)
      throw Mistake{fmt::format("a condition must be a scalar, not {}", describe(kernel(), value)),
                    "use tl.where, or reduce it with tl.max"};
    scalar = builder_.reshape(scalar, {});
  }
  return cast(scalar, ir::Type::scalar(b1));
}

}  // namespace tilewright::triton
