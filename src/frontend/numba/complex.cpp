// SPDX-License-Identifier: Apache-2.0
// frontend/numba/complex.cpp — complex numbers: tuples of their two parts, which variables,
// arguments and results of functions hold like any tuple.
#include <cctype>

#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

// f(x): what must not stand in a text twice.
bool has_call(const std::string& text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '(' &&
        (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '_'))
      return true;
  return false;
}

}  // namespace

Value complex_value(const Value& real, const Value& imaginary, DType part) {
  Value value = tuple_value({converted(real, part), converted(imaginary, part)});
  value.type = complex_type(part);
  return value;
}

Value as_complex(const Value& value, DType part) {
  if (!value.type.is_complex) return complex_value(value, float_constant(0, part), part);
  return complex_value(value.items[0], value.items[1], part);
}

Value FunctionWriter::complex_binary(BinaryOperator op, const Value& left, const Value& right,
                                     const Node& place) {
  if (left.is_packed || right.is_packed)
    missing(place, "arithmetic with the complex result of a call; give the result a name first");
  const std::optional<Type> type = unify(left.type, right.type);
  if (!type || !type->is_complex)
    fail(place, fmt::format("'{}' takes numbers, not {} and {}", text_of(op), text_of(left.type),
                            text_of(right.type)));
  const DType part = type->items[0].dtype;
  const Value a = as_complex(left, part), b = as_complex(right, part);
  switch (op) {
    case BinaryOperator::Add:
    case BinaryOperator::Subtract:
      return complex_value(binary(op, a.items[0], b.items[0], place),
                           binary(op, a.items[1], b.items[1], place), part);
    case BinaryOperator::Multiply:
      return complex_product(a, b, place);
    case BinaryOperator::Divide:
      return complex_quotient(a, b, place);
    case BinaryOperator::Power: {
      const std::int64_t exponent = right.integer().value_or(0);
      if (exponent < 1 || exponent > 4)
        missing(place, "a power of a complex number that is not 1, 2, 3 or 4");
      Value result = a;
      for (std::int64_t i = 1; i < exponent; ++i) result = complex_product(result, a, place);
      return result;
    }
    default:
      fail(place, fmt::format("'{}' does not take complex numbers", text_of(op)));
  }
}

// Both parts mention all four factors.
Value FunctionWriter::complex_product(const Value& a, const Value& b, const Node& place) {
  for (const Value* value : {&a, &b})
    for (const Value& item : value->items)
      if (has_call(item.text))
        missing(place,
                "a call inside of a factor or divisor that is complex; give its result a name "
                "first");
  const auto times = [&](const Value& left, const Value& right) {
    return binary(BinaryOperator::Multiply, left, right, place);
  };
  const DType part = a.items[0].type.dtype;
  return complex_value(binary(BinaryOperator::Subtract, times(a.items[0], b.items[0]),
                              times(a.items[1], b.items[1]), place),
                       binary(BinaryOperator::Add, times(a.items[0], b.items[1]),
                              times(a.items[1], b.items[0]), place),
                       part);
}

Value FunctionWriter::complex_quotient(const Value& a, const Value& b, const Node& place) {
  static_cast<void>(complex_product(a, b, place));  // refuses what it refuses
  const DType part = a.items[0].type.dtype;
  const auto divided = [&](const char* function) {
    return scalar_value(
        part, fmt::format("{}<{}>({}, {}, {}, {})", helper(function), cpp_type(part),
                          a.items[0].text, a.items[1].text, b.items[0].text, b.items[1].text));
  };
  return complex_value(divided("tw_quotient_real"), divided("tw_quotient_imaginary"), part);
}

// complex(real, imaginary), complex(number)
Value FunctionWriter::complex_call(const Arguments& given, const Node& place) {
  expect_count(given, 1, 2, "complex", place);
  if (given.size() == 1 && given.values[0].type.is_complex) return given.values[0];
  for (const Value& value : given.values) expect_scalar(value, "a part of complex(...)", place);
  const Value zero = float_constant(0, complex_type(given.values[0].type.dtype).items[0].dtype);
  const Value& imaginary = given.size() == 2 ? given.values[1] : zero;
  const DType part =
      complex_type(division_type(given.values[0].type.dtype, imaginary.type.dtype)).items[0].dtype;
  return complex_value(given.values[0], imaginary, part);
}

Value FunctionWriter::complex_attribute(const Value& value, const Attribute& node) {
  if (value.is_packed) missing(node, "a part of a call's result; give the result a name first");
  if (node.name == "real") return value.items[0];
  if (node.name == "imag") return value.items[1];
  fail(node, fmt::format("{} has no attribute '{}'; there are real, imag and conjugate()",
                         text_of(value.type), node.name));
}

}  // namespace tilewright::numba
