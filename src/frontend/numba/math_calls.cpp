// SPDX-License-Identifier: Apache-2.0
// frontend/numba/math_calls.cpp — functions of the modules math and numpy.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

constexpr std::string_view unary_functions[] = {
    "sin",   "cos",   "tan",   "asin", "acos",  "atan", "sinh", "cosh",   "tanh",
    "asinh", "acosh", "atanh", "exp",  "exp2",  "log",  "log2", "log10",  "log1p",
    "expm1", "sqrt",  "cbrt",  "fabs", "rsqrt", "erf",  "erfc", "lgamma", "rint"};
constexpr std::string_view binary_functions[] = {"atan2", "hypot",     "copysign", "fmod",
                                                 "pow",   "nextafter", "remainder"};
// What device_lib/cpu has as loops can use it.
constexpr std::string_view loop_functions[] = {
    "sin",   "cos",   "tan",   "asin",  "acos",     "atan",      "sinh",   "cosh",  "tanh",
    "asinh", "acosh", "atanh", "exp",   "exp2",     "log",       "log2",   "log10", "log1p",
    "expm1", "sqrt",  "cbrt",  "rsqrt", "erf",      "erfc",      "lgamma", "rint",  "atan2",
    "hypot", "pow",   "floor", "ceil",  "copysign", "nextafter", "tgamma", "trunc"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// NumPy's names of functions that math calls otherwise.
std::string_view math_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"arcsin", "asin"},   {"arccos", "acos"},   {"arctan", "atan"},   {"arctan2", "atan2"},
      {"arcsinh", "asinh"}, {"arccosh", "acosh"}, {"arctanh", "atanh"}, {"power", "pow"},
      {"gamma", "tgamma"},  {"abs", "fabs"},      {"absolute", "fabs"}};
  for (const auto& [other, own] : names)
    if (other == name) return own;
  return name;
}

// libdevice's fast_expf and expf are exp here.
std::string_view plain_name(std::string_view name) {
  if (name.starts_with("fast_")) name.remove_prefix(5);
  if (name == "erf") return name;
  const std::string_view shorter = name.substr(0, name.size() - 1);
  const bool is_single = name.ends_with('f') && (is_one_of(shorter, unary_functions) ||
                                                 is_one_of(shorter, binary_functions));
  return is_single ? shorter : name;
}

}  // namespace

std::string FunctionWriter::math_function(std::string_view name, DType dtype) {
  const char* const suffix = dtype == DType::Float32 ? "f" : "";
  if (!is_loop_dialect()) return fmt::format("{}{}", name, suffix);
  if (!is_one_of(name, loop_functions)) return fmt::format("__builtin_{}{}", name, suffix);
  helpers.insert("math");
  return fmt::format("tw::{}", name);
}

Value FunctionWriter::call_math(std::string_view full_name, const Arguments& given,
                                const Node& place) {
  const std::string_view name = plain_name(math_name(full_name));
  for (const Value& value : given.values)
    expect_scalar(value, fmt::format("an argument of {}", full_name), place);
  // Functions of float16 are those of float32, rounded; what gives no float stays what it is.
  const bool has_half =
      std::any_of(given.values.begin(), given.values.end(),
                  [](const Value& value) { return value.type.dtype == DType::Float16; });
  if (has_half) {
    Arguments wide = given;
    bool are_halves = true;
    for (Value& value : wide.values) {
      are_halves &= value.type.dtype == DType::Float16 || size_of(value.type.dtype) == 1;
      if (value.type.dtype == DType::Float16) value = converted(value, DType::Float32);
    }
    const Value result = call_math(full_name, wide, place);
    const bool is_rounded = are_halves && result.type == Type::scalar(DType::Float32);
    return is_rounded ? converted(result, DType::Float16) : result;
  }
  const auto single = [&]() -> const Value& {
    expect_count(given, 1, 1, full_name, place);
    return given.values[0];
  };
  if (is_one_of(name, unary_functions) || name == "tgamma") {
    const DType dtype = math_type(single().type.dtype);
    Value value = scalar_value(
        dtype, fmt::format("{}({})", math_function(name, dtype), converted(single(), dtype).text));
    value.is_nonnegative = name == "fabs" || name == "sqrt" || name == "exp";
    return value;
  }
  if (is_one_of(name, binary_functions)) {
    expect_count(given, 2, 2, full_name, place);
    const DType dtype = division_type(given.values[0].type.dtype, given.values[1].type.dtype);
    return scalar_value(dtype, fmt::format("{}({}, {})", math_function(name, dtype),
                                           converted(given.values[0], dtype).text,
                                           converted(given.values[1], dtype).text));
  }
  if (name == "floor" || name == "ceil" || name == "trunc") {
    if (single().type.is_integer()) return converted(single(), DType::Int64);
    const DType dtype = single().type.dtype;
    Value value = scalar_value(
        DType::Int64, fmt::format("(long long){}({})", math_function(name, dtype), single().text));
    value.is_nonnegative = single().is_nonnegative;
    return value;
  }
  if (name == "isnan" || name == "isinf" || name == "isfinite") {
    if (single().type.is_integer()) return integer_constant(name == "isfinite", DType::Bool);
    return scalar_value(DType::Bool, fmt::format("{}({})",
                                                 helper(name == "isnan"   ? "tw_isnan"
                                                        : name == "isinf" ? "tw_isinf"
                                                                          : "tw_isfinite"),
                                                 single().text));
  }
  if (name == "degrees" || name == "radians") {
    const DType dtype = math_type(single().type.dtype);
    const double by = name == "degrees" ? 57.29577951308232 : 0.017453292519943295;
    return binary(BinaryOperator::Multiply, converted(single(), dtype), float_constant(by, dtype),
                  place);
  }
  if (name == "ldexp") {
    expect_count(given, 2, 2, name, place);
    const DType dtype = math_type(given.values[0].type.dtype);
    return scalar_value(dtype, fmt::format("{}({}, {})", math_function("ldexp", dtype),
                                           converted(given.values[0], dtype).text,
                                           converted(given.values[1], DType::Int32).text));
  }
  if (name == "modf" || name == "frexp") {
    const DType dtype = math_type(single().type.dtype);
    const std::string x = converted(single(), dtype).text;
    if (name == "modf")
      return tuple_value(
          {scalar_value(dtype, fmt::format("{}({})", helper("tw_modf"), x)),
           scalar_value(dtype, fmt::format("{}({})", math_function("trunc", dtype), x))});
    return tuple_value(
        {scalar_value(dtype, fmt::format("{}({})", helper("tw_frexp"), x)),
         scalar_value(DType::Int32, fmt::format("{}({})", helper("tw_frexp_exponent"), x))});
  }
  missing(place, fmt::format("the function {}(...)", full_name));
}

Value FunctionWriter::call_numpy(std::string_view name, const Arguments& given, const Node& place) {
  if (name == "minimum" || name == "maximum")
    return minimum_or_maximum(name == "minimum", given, place);
  if ((name == "abs" || name == "absolute") && given.size() == 1 &&
      given.values[0].type.is_integer())
    return call_builtin("abs", given, place);
  if (name == "floor" || name == "ceil" || name == "trunc") {
    expect_count(given, 1, 1, name, place);
    const DType dtype = math_type(given.values[0].type.dtype), computed = computed_type(dtype);
    return converted(scalar_value(computed, fmt::format("{}({})", math_function(name, computed),
                                                        converted(given.values[0], computed).text)),
                     dtype);
  }
  if (name == "power" && given.size() == 2)
    return binary(BinaryOperator::Power, given.values[0], given.values[1], place);
  return call_math(name, given, place);
}

}  // namespace tilewright::numba
