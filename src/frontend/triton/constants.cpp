// SPDX-License-Identifier: Apache-2.0
// frontend/triton/constants.cpp — Python's arithmetic on 128-bit integers and doubles.
#include "frontend/triton/constants.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "frontend/python/arithmetic.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;
using python::CompareOperator;
using python::UnaryOperator;

[[noreturn]] void fail_types(std::string_view op, const Value& a, const Value& b) {
  const ir::Kernel none;
  throw Mistake{
      fmt::format("'{}' does not work on {} and {}", op, describe(none, a), describe(none, b)), ""};
}

[[noreturn]] void fail_range(std::string_view op) {
  throw Mistake{fmt::format("the result of '{}' on constants has more than 127 bits", op), ""};
}

[[noreturn]] void fail_zero(std::string_view op) {
  throw Mistake{fmt::format("'{}' divides a constant by zero", op), ""};
}

// ---- Integers

Int128 floor_divide(Int128 a, Int128 b) {
  const Int128 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Int128 checked_multiply(Int128 a, Int128 b, std::string_view op) {
  Int128 result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail_range(op);
  return result;
}

Int128 shift_left(Int128 a, Int128 amount) {
  if (amount < 0) throw Mistake{"'<<' by a negative constant", ""};
  if (a == 0) return 0;
  if (amount > 126) fail_range("<<");
  return checked_multiply(a, Int128{1} << static_cast<int>(amount), "<<");
}

Int128 shift_right(Int128 a, Int128 amount) {
  if (amount < 0) throw Mistake{"'>>' by a negative constant", ""};
  return a >> static_cast<int>(std::min<Int128>(amount, 127));
}

Value power(Int128 base, Int128 exponent) {
  if (exponent < 0) {
    if (base == 0) fail_zero("**");
    return Value::number(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) return Value::integer(exponent == 0 ? 1 : base);
  if (base == -1) return Value::integer(exponent % 2 == 0 ? 1 : -1);
  Int128 result = 1;
  for (Int128 i = 0; i < exponent; ++i) result = checked_multiply(result, base, "**");
  return Value::integer(result);
}

Value fold_integers(BinaryOperator op, Int128 a, Int128 b) {
  Int128 result = 0;
  switch (op) {
    case BinaryOperator::Add:
      if (__builtin_add_overflow(a, b, &result)) fail_range("+");
      return Value::integer(result);
    case BinaryOperator::Subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail_range("-");
      return Value::integer(result);
    case BinaryOperator::Multiply:
      return Value::integer(checked_multiply(a, b, "*"));
    case BinaryOperator::Divide:
      if (b == 0) fail_zero("/");
      return Value::number(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOperator::FloorDivide:
      if (b == 0) fail_zero("//");
      return Value::integer(floor_divide(a, b));
    case BinaryOperator::Modulo:
      if (b == 0) fail_zero("%");
      return Value::integer(a - floor_divide(a, b) * b);
    case BinaryOperator::Power:
      return power(a, b);
    case BinaryOperator::BitAnd:
      return Value::integer(a & b);
    case BinaryOperator::BitOr:
      return Value::integer(a | b);
    case BinaryOperator::BitXor:
      return Value::integer(a ^ b);
    case BinaryOperator::ShiftLeft:
      return Value::integer(shift_left(a, b));
    case BinaryOperator::ShiftRight:
      return Value::integer(shift_right(a, b));
    case BinaryOperator::MatrixMultiply:
      break;
  }
  fail_types(text_of(op), Value::integer(a), Value::integer(b));
}

// ---- Floats

Value fold_floats(BinaryOperator op, double a, double b) {
  const bool divides = op == BinaryOperator::Divide || op == BinaryOperator::FloorDivide ||
                       op == BinaryOperator::Modulo;
  if (divides && b == 0) fail_zero(text_of(op));
  switch (op) {
    case BinaryOperator::Add:
      return Value::number(a + b);
    case BinaryOperator::Subtract:
      return Value::number(a - b);
    case BinaryOperator::Multiply:
      return Value::number(a * b);
    case BinaryOperator::Divide:
      return Value::number(a / b);
    case BinaryOperator::FloorDivide:
      return Value::number(python::floor_divide(a, b));
    case BinaryOperator::Modulo:
      return Value::number(python::floor_modulo(a, b));
    case BinaryOperator::Power:
      return Value::number(std::pow(a, b));
    default:
      fail_types(text_of(op), Value::number(a), Value::number(b));
  }
}

// ---- Tuples and text

const std::string* text_if(const Value& value) {
  const Constant* constant = value.get_if<Constant>();
  return constant ? std::get_if<std::string>(&constant->value) : nullptr;
}

Value repeated(const Tuple& tuple, Int128 count) {
  if (count * static_cast<Int128>(tuple.items.size()) > 4096)
    throw Mistake{"a tuple of more than 4096 items", ""};
  std::vector<Value> items;
  for (Int128 i = 0; i < count; ++i)
    items.insert(items.end(), tuple.items.begin(), tuple.items.end());
  return Value::tuple(std::move(items));
}

std::optional<Value> fold_sequences(BinaryOperator op, const Value& a, const Value& b) {
  if (op == BinaryOperator::Add && a.tuple() && b.tuple()) {
    std::vector<Value> items = a.tuple()->items;
    items.insert(items.end(), b.tuple()->items.begin(), b.tuple()->items.end());
    return Value::tuple(std::move(items));
  }
  if (op == BinaryOperator::Add && text_if(a) && text_if(b))
    return Value::text(*text_if(a) + *text_if(b));
  if (op != BinaryOperator::Multiply) return {};
  if (a.tuple() && integer_of(b)) return repeated(*a.tuple(), *integer_of(b));
  if (b.tuple() && integer_of(a)) return repeated(*b.tuple(), *integer_of(a));
  return {};
}

bool is_bool(const Value& value) {
  const Constant* constant = value.get_if<Constant>();
  return constant && std::holds_alternative<bool>(constant->value);
}

template <class T>
bool ordered(CompareOperator op, const T& a, const T& b) {
  switch (op) {
    case CompareOperator::Less:
      return a < b;
    case CompareOperator::LessEqual:
      return a <= b;
    case CompareOperator::Greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool contains(const Value& item, const Value& container) {
  if (const Tuple* tuple = container.tuple())
    return std::any_of(tuple->items.begin(), tuple->items.end(),
                       [&](const Value& other) { return equal(item, other); });
  if (text_if(item) && text_if(container))
    return text_if(container)->find(*text_if(item)) != std::string::npos;
  fail_types("in", item, container);
}

bool equal_tuples(const Tuple& a, const Tuple& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
}

bool equal_constants(const Value& a, const Value& b) {
  if (integer_of(a) && integer_of(b)) return *integer_of(a) == *integer_of(b);
  if (number_of(a) && number_of(b)) return *number_of(a) == *number_of(b);
  if (text_if(a) && text_if(b)) return *text_if(a) == *text_if(b);
  return a.is_none() && b.is_none();
}

std::string float_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::isnan(value)) return "nan";
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

}  // namespace

std::optional<Int128> integer_of(const Value& value) {
  const Constant* constant = value.get_if<Constant>();
  if (!constant) return {};
  if (const bool* flag = std::get_if<bool>(&constant->value)) return Int128{*flag};
  if (const Int128* integer = std::get_if<Int128>(&constant->value)) return *integer;
  return {};
}

std::optional<double> number_of(const Value& value) {
  if (const std::optional<Int128> integer = integer_of(value)) return static_cast<double>(*integer);
  const Constant* constant = value.get_if<Constant>();
  if (!constant) return {};
  if (const double* number = std::get_if<double>(&constant->value)) return *number;
  return {};
}

bool is_number(const Value& value) { return number_of(value).has_value(); }

std::string to_text(Int128 value) {
  __extension__ using Unsigned = unsigned __int128;
  Unsigned rest =
      value < 0 ? Unsigned{0} - static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string text_of(const Constant& constant) {
  if (const bool* flag = std::get_if<bool>(&constant.value)) return *flag ? "True" : "False";
  if (const Int128* integer = std::get_if<Int128>(&constant.value)) return to_text(*integer);
  if (const double* number = std::get_if<double>(&constant.value)) return float_text(*number);
  if (const std::string* text = std::get_if<std::string>(&constant.value))
    return fmt::format("'{}'", *text);
  return "None";
}

bool equal(const Value& a, const Value& b) {
  if (a.is_constant() && b.is_constant()) return equal_constants(a, b);
  if (a.tuple() && b.tuple()) return equal_tuples(*a.tuple(), *b.tuple());
  if (const TypeValue* type = a.get_if<TypeValue>())
    return b.get_if<TypeValue>() && type->type == b.get_if<TypeValue>()->type;
  if (const Function* function = a.get_if<Function>())
    return b.get_if<Function>() && function->node == b.get_if<Function>()->node;
  if (const Builtin* builtin = a.get_if<Builtin>())
    return b.get_if<Builtin>() && builtin->name == b.get_if<Builtin>()->name;
  if (const ir::Value* tensor = a.get_if<ir::Value>())
    return b.get_if<ir::Value>() && *tensor == *b.get_if<ir::Value>();
  if (const Namespace* space = a.get_if<Namespace>())
    return b.get_if<Namespace>() && space->module == b.get_if<Namespace>()->module &&
           space->external == b.get_if<Namespace>()->external;
  return false;
}

Value fold(BinaryOperator op, const Value& a, const Value& b) {
  if (const std::optional<Value> sequence = fold_sequences(op, a, b)) return *sequence;
  if (integer_of(a) && integer_of(b)) {
    const Value result = fold_integers(op, *integer_of(a), *integer_of(b));
    const bool is_bitwise =
        op == BinaryOperator::BitAnd || op == BinaryOperator::BitOr || op == BinaryOperator::BitXor;
    return is_bitwise && is_bool(a) && is_bool(b) ? Value::boolean(*integer_of(result) != 0)
                                                  : result;
  }
  if (number_of(a) && number_of(b)) return fold_floats(op, *number_of(a), *number_of(b));
  fail_types(text_of(op), a, b);
}

Value fold(UnaryOperator op, const Value& a) {
  const ir::Kernel none;
  if (const std::optional<Int128> integer = integer_of(a)) {
    if (op == UnaryOperator::Negate) return fold_integers(BinaryOperator::Subtract, 0, *integer);
    if (op == UnaryOperator::Plus) return Value::integer(*integer);
    if (op == UnaryOperator::Invert) return Value::integer(~*integer);
  }
  if (const std::optional<double> number = number_of(a)) {
    if (op == UnaryOperator::Negate) return Value::number(-*number);
    if (op == UnaryOperator::Plus) return a;
  }
  throw Mistake{fmt::format("'{}' does not work on {}", text_of(op), describe(none, a)), ""};
}

bool fold(CompareOperator op, const Value& a, const Value& b) {
  switch (op) {
    case CompareOperator::Equal:
      return equal(a, b);
    case CompareOperator::NotEqual:
      return !equal(a, b);
    case CompareOperator::Is:
    case CompareOperator::IsNot: {
      // None, True and False are single objects; a number is never one of them.
      const bool same = is_bool(a) == is_bool(b) && equal(a, b);
      return (op == CompareOperator::Is) == same;
    }
    case CompareOperator::In:
      return contains(a, b);
    case CompareOperator::NotIn:
      return !contains(a, b);
    default:
      break;
  }
  if (integer_of(a) && integer_of(b)) return ordered(op, *integer_of(a), *integer_of(b));
  if (number_of(a) && number_of(b)) return ordered(op, *number_of(a), *number_of(b));
  if (text_if(a) && text_if(b)) return ordered(op, *text_if(a), *text_if(b));
  fail_types(text_of(op), a, b);
}

}  // namespace tilewright::triton
