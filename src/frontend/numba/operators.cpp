// SPDX-License-Identifier: Apache-2.0
// frontend/numba/operators.cpp — arithmetic as Python defines it, with Numba's types.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// Integers of 64 bits wrap.
std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::optional<Value> fold_integers(BinaryOperator op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case BinaryOperator::Add:
      return integer_constant(add(a, b));
    case BinaryOperator::Subtract:
      return integer_constant(add(a, multiply(b, -1)));
    case BinaryOperator::Multiply:
      return integer_constant(multiply(a, b));
    case BinaryOperator::FloorDivide:
      if (b == 0 || b == -1) return {};
      return integer_constant(floor_divide(a, b));
    case BinaryOperator::Modulo:
      if (b == 0 || b == -1) return {};
      return integer_constant(a - b * floor_divide(a, b));
    case BinaryOperator::BitAnd:
      return integer_constant(a & b);
    case BinaryOperator::BitOr:
      return integer_constant(a | b);
    case BinaryOperator::BitXor:
      return integer_constant(a ^ b);
    case BinaryOperator::ShiftLeft:
      if (b < 0 || b > 62 || a < 0 || (a >> (62 - b)) != 0) return {};
      return integer_constant(a << b);
    case BinaryOperator::ShiftRight:
      if (b < 0 || b > 63) return {};
      return integer_constant(a >> b);
    case BinaryOperator::Power: {
      if (b < 0 || b > 64) return {};
      std::int64_t result = 1;
      for (std::int64_t i = 0; i < b; ++i) result = multiply(result, a);
      return integer_constant(result);
    }
    default:
      return {};
  }
}

std::optional<Value> fold(BinaryOperator op, const Value& left, const Value& right) {
  if (!left.constant || !right.constant) return {};
  const bool are_integers = left.type.dtype == DType::Int64 && right.type.dtype == DType::Int64;
  if (are_integers && op != BinaryOperator::Divide)
    return fold_integers(op, *left.integer(), *right.integer());
  if (left.type.dtype == DType::Float32 || right.type.dtype == DType::Float32 ||
      left.type.dtype == DType::UInt64 || right.type.dtype == DType::UInt64)
    return {};
  const auto number = [](const Value& value) {
    return std::visit([](auto each) { return static_cast<double>(each); }, *value.constant);
  };
  const double a = number(left), b = number(right);
  switch (op) {
    case BinaryOperator::Add:
      return float_constant(a + b);
    case BinaryOperator::Subtract:
      return float_constant(a - b);
    case BinaryOperator::Multiply:
      return float_constant(a * b);
    case BinaryOperator::Divide:
      if (b == 0) return {};
      return float_constant(a / b);
    case BinaryOperator::Power:
      return float_constant(std::pow(a, b));
    default:
      return {};
  }
}

// What the operator makes of values that change like these along a row.
AlongRow row_of(BinaryOperator op, const Value& left, const Value& right) {
  const auto is_known = [](const Value& value) {
    return value.row == AlongRow::Same ||
           (value.row == AlongRow::Rising && value.type.is_integer());
  };
  if (!is_known(left) || !is_known(right)) return AlongRow::Unknown;
  const bool is_left_same = left.row == AlongRow::Same, is_right_same = right.row == AlongRow::Same;
  if (is_left_same && is_right_same) return AlongRow::Same;
  if (op == BinaryOperator::Add || (op == BinaryOperator::Subtract && is_right_same))
    return AlongRow::Rising;
  const Value& factor = is_left_same ? left : right;
  const bool is_scaled = (is_left_same || is_right_same) && factor.is_nonnegative;
  return op == BinaryOperator::Multiply && is_scaled ? AlongRow::Rising : AlongRow::Unknown;
}

AlongRow row_of(CompareOperator op, const Value& left, const Value& right) {
  const bool is_left_same = left.row == AlongRow::Same, is_right_same = right.row == AlongRow::Same;
  if (is_left_same && is_right_same) return AlongRow::Same;
  const bool is_less = op == CompareOperator::Less || op == CompareOperator::LessEqual;
  const bool is_greater = op == CompareOperator::Greater || op == CompareOperator::GreaterEqual;
  if (left.row == AlongRow::Rising && is_right_same)
    return is_less ? AlongRow::Prefix : is_greater ? AlongRow::Suffix : AlongRow::Unknown;
  if (is_left_same && right.row == AlongRow::Rising)
    return is_greater ? AlongRow::Prefix : is_less ? AlongRow::Suffix : AlongRow::Unknown;
  return AlongRow::Unknown;
}

bool is_bitwise(BinaryOperator op) {
  return op == BinaryOperator::BitAnd || op == BinaryOperator::BitOr ||
         op == BinaryOperator::BitXor;
}

// Left and right as C++ computes them in `dtype`: it converts one side by itself where the other
// has the type.
std::pair<Value, Value> operands(const Value& left, const Value& right, DType dtype) {
  const auto is_in_type = [&](const Value& value) {
    return value.type.dtype == dtype && !value.constant && !value.is_narrow();
  };
  const bool has_type = is_in_type(left) || is_in_type(right);
  const bool mixes_signs = dtype == DType::Int64 &&
                           (left.type.dtype == DType::UInt64 || right.type.dtype == DType::UInt64);
  const auto side = [&](const Value& value, bool must) {
    const bool is_half = value.type.dtype == DType::Float16;
    return must || value.constant || mixes_signs || is_half ? converted(value, dtype) : value;
  };
  // A literal is an int in C++: the other side says the type.
  const bool by_right = !has_type && left.constant.has_value();
  return {side(left, !has_type && !by_right), side(right, by_right)};
}

// blockIdx.x * blockDim.x, gridDim.x * blockDim.x
bool is_in_grid(const Value& left, const Value& right) {
  using Kind = GridPart::Kind;
  const auto is_pair = [](const GridPart& a, const GridPart& b) {
    return a.axis == b.axis && b.kind == Kind::BlockDim &&
           (a.kind == Kind::BlockIdx || a.kind == Kind::GridDim);
  };
  return is_pair(left.grid_part, right.grid_part) || is_pair(right.grid_part, left.grid_part);
}

}  // namespace

// Operands and result that fit an int are computed as ints.
std::optional<Value> FunctionWriter::small_binary(BinaryOperator op, const Value& left,
                                                  const Value& right) const {
  const std::optional<std::int64_t> a = most_of(left), b = most_of(right);
  if (!program_.is_narrow || !a || !b) return {};
  const bool are_nonnegative = left.is_nonnegative && right.is_nonnegative;
  const bool is_divisor = are_nonnegative && right.least >= 1;
  std::int64_t most = 0;
  switch (op) {
    case BinaryOperator::Add:
      most = *a + *b;
      break;
    case BinaryOperator::Subtract:
      most = are_nonnegative ? std::max(*a, *b) : *a + *b;
      break;
    case BinaryOperator::Multiply:
      most = is_in_grid(left, right) ? most_of_narrow : *a * *b;
      break;
    case BinaryOperator::FloorDivide:
      if (!is_divisor) return {};
      most = *a / right.least;
      break;
    case BinaryOperator::Modulo:
      if (!is_divisor) return {};
      most = std::min(*a, *b);
      break;
    case BinaryOperator::BitAnd:
      if (!are_nonnegative) return {};
      most = std::min(*a, *b);
      break;
    case BinaryOperator::ShiftRight:
      if (!are_nonnegative || !right.integer() || *b > 31) return {};
      most = *a >> *b;
      break;
    default:
      return {};
  }
  if (most > INT32_MAX) return {};
  const char* const sign = op == BinaryOperator::FloorDivide ? "/"
                           : op == BinaryOperator::Modulo    ? "%"
                                                             : nullptr;
  const std::string_view symbol = sign != nullptr ? std::string_view(sign) : text_of(op);
  Value value = scalar_value(
      DType::Int64, fmt::format("{} {} {}", in_parentheses(left), symbol, in_parentheses(right)),
      false);
  value.most = most;
  value.is_nonnegative = are_nonnegative;
  if (op == BinaryOperator::Add && are_nonnegative) value.least = left.least + right.least;
  if (op == BinaryOperator::Subtract) {
    value.is_nonnegative = are_nonnegative && right.integer() && *b <= left.least;
    value.least = value.is_nonnegative ? left.least - *b : 0;
  }
  value.is_stable = left.is_stable && right.is_stable;
  value.row = row_of(op, left, right);
  return value;
}

Value FunctionWriter::unary(const UnaryOp& node) {
  const Value value = expression(node.operand);
  if (value.type.is_unknown()) return {};
  if (value.type.is_complex && node.op == UnaryOperator::Plus) return value;
  if (value.type.is_complex && node.op == UnaryOperator::Negate)
    return complex_binary(BinaryOperator::Subtract, float_constant(-0.0, value.type.items[0].dtype),
                          value, node);
  expect_scalar(value, fmt::format("the operand of '{}'", text_of(node.op)), node);
  if (node.op == UnaryOperator::Not) {
    const Value test = truth_of(value);
    if (test.constant) return integer_constant(*test.integer() == 0, DType::Bool);
    return scalar_value(DType::Bool, "!" + in_parentheses(test));
  }
  if (node.op == UnaryOperator::Invert && value.type.is_bool())
    return scalar_value(DType::Bool, "!" + in_parentheses(value));
  if (node.op == UnaryOperator::Invert && value.type.is_float())
    fail(node, fmt::format("'~' takes an integer, not {}", text_of(value.type)));
  const DType dtype = value.type.is_float() ? value.type.dtype
                                            : arithmetic_type(value.type.dtype, value.type.dtype);
  const Value wide = converted(value, dtype);
  if (node.op == UnaryOperator::Plus) return wide;
  if (dtype == DType::Float16 && !wide.constant)
    return converted(
        scalar_value(DType::Float32, "-" + in_parentheses(converted(wide, DType::Float32)), false),
        dtype);
  if (wide.constant && dtype != DType::UInt64) {
    if (const auto integer = wide.integer())
      return integer_constant(node.op == UnaryOperator::Negate ? multiply(*integer, -1)
                                                               : ~*integer);
    return float_constant(-std::get<double>(*wide.constant), dtype);
  }
  return scalar_value(dtype, (node.op == UnaryOperator::Negate ? "-" : "~") + in_parentheses(wide),
                      false);
}

Value FunctionWriter::binary(BinaryOperator op, const Value& left, const Value& right,
                             const Node& place) {
  if (left.type.is_unknown() || right.type.is_unknown()) return {};
  if (left.type.is_complex || right.type.is_complex) return complex_binary(op, left, right, place);
  if (left.type.is_tuple() && right.type.is_tuple() && op == BinaryOperator::Add) {
    std::vector<Value> items = left.items;
    items.insert(items.end(), right.items.begin(), right.items.end());
    return tuple_value(std::move(items));
  }
  if (!left.type.is_scalar() || !right.type.is_scalar())
    fail(place,
         fmt::format("'{}' takes numbers, not {} and {}", text_of(op), text_of(left.type),
                     text_of(right.type)),
         left.type.is_array() || right.type.is_array() ? "take elements of the arrays: x[i]" : "");
  if (op == BinaryOperator::MatrixMultiply) missing(place, "'@'");
  if (const std::optional<Value> folded = fold(op, left, right)) return *folded;
  if (const std::optional<Value> small = small_binary(op, left, right)) return *small;
  if (op == BinaryOperator::Power) return power(left, right, place);
  const bool are_integers = left.type.is_integer() && right.type.is_integer();
  if (is_bitwise(op) || op == BinaryOperator::ShiftLeft || op == BinaryOperator::ShiftRight) {
    if (!are_integers)
      fail(place, fmt::format("'{}' takes integers, not {} and {}", text_of(op), text_of(left.type),
                              text_of(right.type)));
    return is_bitwise(op) ? integer_binary(op, left, right) : shift(op, left, right);
  }
  if (op == BinaryOperator::FloorDivide || op == BinaryOperator::Modulo)
    return divide(op, left, right);
  const bool is_division = op == BinaryOperator::Divide;
  const DType dtype = is_division ? division_type(left.type.dtype, right.type.dtype)
                                  : arithmetic_type(left.type.dtype, right.type.dtype);
  const DType computed = computed_type(dtype);
  const auto [a, b] = operands(left, right, computed);
  Value value = scalar_value(
      computed, fmt::format("{} {} {}", in_parentheses(a), text_of(op), in_parentheses(b)), false);
  if (computed != dtype) return converted(value, dtype);
  if (op == BinaryOperator::Add || op == BinaryOperator::Multiply || is_division)
    value.is_nonnegative |= left.is_nonnegative && right.is_nonnegative;
  value.row = row_of(op, left, right);
  // n + 15 - 1 is not negative where n is not.
  if (op == BinaryOperator::Add && value.is_nonnegative) value.least = left.least + right.least;
  if (op == BinaryOperator::Subtract && are_integers && left.is_nonnegative && right.integer() &&
      *right.integer() <= left.least) {
    value.is_nonnegative = true;
    value.least = left.least - *right.integer();
  }
  value.is_stable = left.is_stable && right.is_stable;
  return value;
}

Value FunctionWriter::integer_binary(BinaryOperator op, const Value& left, const Value& right) {
  if (left.type.is_bool() && right.type.is_bool())
    return scalar_value(
        DType::Bool,
        fmt::format("{} {} {}", in_parentheses(left), text_of(op), in_parentheses(right)), false);
  const DType dtype = arithmetic_type(left.type.dtype, right.type.dtype);
  const auto [a, b] = operands(left, right, dtype);
  Value value = scalar_value(
      dtype, fmt::format("{} {} {}", in_parentheses(a), text_of(op), in_parentheses(b)), false);
  value.is_nonnegative |= op == BinaryOperator::BitAnd
                              ? left.is_nonnegative || right.is_nonnegative
                              : left.is_nonnegative && right.is_nonnegative;
  return value;
}

Value FunctionWriter::shift(BinaryOperator op, const Value& left, const Value& right) {
  const DType dtype = arithmetic_type(left.type.dtype, left.type.dtype);
  Value value = scalar_value(
      dtype, fmt::format("{} {} {}", typed_text(left, dtype), text_of(op), in_parentheses(right)),
      false);
  value.is_nonnegative |= left.is_nonnegative && op == BinaryOperator::ShiftRight;
  return value;
}

// Quotients are rounded down, and the remainder has the sign of the divisor.
Value FunctionWriter::divide(BinaryOperator op, const Value& left, const Value& right) {
  const bool is_quotient = op == BinaryOperator::FloorDivide;
  const DType dtype = arithmetic_type(left.type.dtype, right.type.dtype);
  const bool is_real = is_floating(dtype);
  // The processor stops at a division by 0, which helpers avoid.
  const bool is_plain = !is_real && left.is_nonnegative && right.is_nonnegative && right.least >= 1;
  if (is_plain) {
    const auto [a, b] = operands(left, right, dtype);
    Value value = scalar_value(
        dtype,
        fmt::format("{} {} {}", in_parentheses(a), is_quotient ? "/" : "%", in_parentheses(b)),
        false);
    value.is_nonnegative = true;
    value.is_stable = left.is_stable && right.is_stable;
    value.row = row_of(op, left, right);
    return value;
  }
  const char* const name = is_real ? (is_quotient ? "tw_floor_divide_real" : "tw_modulo_real")
                                   : (is_quotient ? "tw_floor_divide" : "tw_modulo");
  const DType computed = computed_type(dtype);
  Value value =
      scalar_value(computed, fmt::format("{}({}, {})", helper(name), typed_text(left, computed),
                                         typed_text(right, computed)));
  if (computed != dtype) return converted(value, dtype);
  value.is_nonnegative |= !is_quotient && right.is_nonnegative;
  return value;
}

// A small constant exponent is a product; integers stay integers.
Value FunctionWriter::power(const Value& left, const Value& right, const Node& place) {
  const bool is_integer_exponent = right.type.is_integer();
  if (left.type.is_integer() && is_integer_exponent) {
    if (right.integer().value_or(0) < 0)
      fail(place, "an integer to a negative power", "make the base a float: float(x) ** -1");
    const DType dtype = arithmetic_type(left.type.dtype, right.type.dtype);
    Value value =
        scalar_value(dtype, fmt::format("{}({}, {})", helper("tw_integer_power"),
                                        typed_text(left, dtype), typed_text(right, DType::Int64)));
    value.is_nonnegative |= left.is_nonnegative;
    return value;
  }
  if (left.type.dtype == DType::Float16 &&
      (is_integer_exponent || right.type.dtype == DType::Float16))
    return converted(power(converted(left, DType::Float32),
                           is_integer_exponent ? right : converted(right, DType::Float32), place),
                     DType::Float16);
  if (!left.type.is_integer() && is_integer_exponent) {
    const DType dtype = left.type.dtype;
    return scalar_value(dtype, fmt::format("{}({}, {})", helper("tw_real_power"), left.text,
                                           converted(right, DType::Int64).text));
  }
  const DType dtype = arithmetic_type(left.type.dtype, right.type.dtype);
  return scalar_value(
      dtype, fmt::format("{}({}, {})", math_function("pow", dtype), converted(left, dtype).text,
                         converted(right, dtype).text));
}

// ---- Comparisons.

Value FunctionWriter::comparison(const Compare& node) {
  Value left = expression(node.left), result;
  for (std::size_t i = 0; i < node.comparators.size(); ++i) {
    const Value right = expression(node.comparators[i]);
    if (left.type.is_unknown() || right.type.is_unknown()) return {};
    const Value one = compare(node.ops[i], left, right, node);
    result =
        i == 0 ? one
               : scalar_value(DType::Bool,
                              fmt::format("{} && {}", in_parentheses(result), in_parentheses(one)),
                              false);
    left = right;
  }
  return result;
}

Value FunctionWriter::compare(CompareOperator op, const Value& left, const Value& right,
                              const Node& place) {
  if (left.type.is_complex != right.type.is_complex) {
    const std::optional<Type> type = unify(left.type, right.type);
    if (type && type->is_complex) {
      const DType part = type->items[0].dtype;
      return compare(op, as_complex(left, part), as_complex(right, part), place);
    }
  }
  if (left.type.is_tuple() && right.type.is_tuple() && left.items.size() == right.items.size() &&
      (op == CompareOperator::Equal || op == CompareOperator::NotEqual)) {
    Value all = integer_constant(1, DType::Bool);
    for (std::size_t i = 0; i < left.items.size(); ++i) {
      const Value one = compare(CompareOperator::Equal, left.items[i], right.items[i], place);
      all = i == 0 ? one
                   : scalar_value(DType::Bool,
                                  fmt::format("{} && {}", in_parentheses(all), in_parentheses(one)),
                                  false);
    }
    return op == CompareOperator::Equal ? all : scalar_value(DType::Bool, "!(" + all.text + ")");
  }
  if (op == CompareOperator::Is || op == CompareOperator::IsNot || op == CompareOperator::In ||
      op == CompareOperator::NotIn)
    missing(place, fmt::format("'{}'", text_of(op)));
  if (!left.type.is_scalar() || !right.type.is_scalar())
    fail(place, fmt::format("'{}' compares numbers, not {} and {}", text_of(op), text_of(left.type),
                            text_of(right.type)));
  const bool mixes_signs =
      left.type.is_integer() && right.type.is_integer() &&
      (left.type.dtype == DType::UInt64) != (right.type.dtype == DType::UInt64) &&
      !left.is_nonnegative + !right.is_nonnegative > 0;
  Value a = left, b = right;
  if (mixes_signs) {
    // A negative number is smaller than every unsigned one.
    const bool is_left_signed = left.type.dtype != DType::UInt64;
    const Value& number = is_left_signed ? left : right;
    const std::string plain = fmt::format("(unsigned long long){} {} (unsigned long long){}",
                                          in_parentheses(left), text_of(op), in_parentheses(right));
    const bool is_less = op == CompareOperator::Less || op == CompareOperator::LessEqual;
    const bool when_negative = op == CompareOperator::NotEqual ||
                               (op != CompareOperator::Equal && is_less == is_left_signed);
    return scalar_value(DType::Bool, fmt::format("({} < 0 ? {} : {})", in_parentheses(number),
                                                 when_negative ? "true" : "false", plain));
  }
  const DType dtype = arithmetic_type(left.type.dtype, right.type.dtype);
  if (is_floating(dtype)) std::tie(a, b) = operands(left, right, computed_type(dtype));
  else if (left.type.dtype != right.type.dtype && !(most_of(left) && most_of(right)))
    a = converted(left, dtype), b = converted(right, dtype);
  Value value = scalar_value(
      DType::Bool, fmt::format("{} {} {}", in_parentheses(a), text_of(op), in_parentheses(b)),
      false);
  value.is_stable = left.is_stable && right.is_stable;
  value.row = row_of(op, left, right);
  return value;
}

}  // namespace tilewright::numba
