// SPDX-License-Identifier: Apache-2.0
// frontend/numba/value.cpp — literals and conversions as text.
#include "frontend/numba/value.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ir/interpret/tile.h"

namespace tilewright::numba {
namespace {

std::string integer_text(std::int64_t value, DType dtype) {
  if (dtype == DType::Bool) return value != 0 ? "true" : "false";
  if (dtype == DType::UInt64) return fmt::format("{}ull", static_cast<std::uint64_t>(value));
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  const bool is_wide = value > std::numeric_limits<std::int32_t>::max() ||
                       value < std::numeric_limits<std::int32_t>::min();
  const std::string text = fmt::format("{}{}", value, is_wide ? "ll" : "");
  return value < 0 ? "(" + text + ")" : text;
}

std::string float_text(double value, DType dtype) {
  if (dtype == DType::Float16)
    return fmt::format("__float2half({})", float_text(value, DType::Float32));
  const bool is_single = dtype == DType::Float32;
  if (std::isnan(value))
    return is_single ? "__int_as_float(0x7fc00000)" : "__longlong_as_double(0x7ff8000000000000ll)";
  if (std::isinf(value)) {
    const char* const text =
        is_single ? "__int_as_float(0x7f800000)" : "__longlong_as_double(0x7ff0000000000000ll)";
    return value < 0 ? fmt::format("(-{})", text) : text;
  }
  std::string text =
      is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (is_single) text += "f";
  return value < 0 || std::signbit(value) ? "(" + text + ")" : text;
}

std::optional<Value> converted_constant(const Value& value, DType dtype) {
  if (!value.constant) return {};
  if (const auto* integer = std::get_if<std::int64_t>(&*value.constant)) {
    if (is_floating(dtype))
      return float_constant(value.type.dtype == DType::UInt64
                                ? static_cast<double>(static_cast<std::uint64_t>(*integer))
                                : static_cast<double>(*integer),
                            dtype);
    return integer_constant(ir::wrap(dtype, *integer), dtype);
  }
  const double real = std::get<double>(*value.constant);
  if (is_floating(dtype)) return float_constant(real, dtype);
  if (dtype == DType::Bool) return integer_constant(real != 0, dtype);
  if (!(std::fabs(real) < 9e18)) return {};
  return integer_constant(ir::wrap(dtype, static_cast<std::int64_t>(real)), dtype);
}

}  // namespace

std::string in_parentheses(const Value& value) {
  return value.is_simple ? value.text : "(" + value.text + ")";
}

Value scalar_value(DType dtype, std::string text, bool is_simple) {
  Value value;
  value.type = Type::scalar(dtype);
  value.text = std::move(text);
  value.is_simple = is_simple;
  value.is_nonnegative = dtype == DType::Bool || (is_integer(dtype) && !is_signed(dtype));
  return value;
}

Value integer_constant(std::int64_t number, DType dtype) {
  Value value = scalar_value(dtype, integer_text(number, dtype));
  value.constant = number;
  value.is_nonnegative |= number >= 0;
  value.least = number > 0 ? number : 0;
  value.is_stable = true;
  value.row = AlongRow::Same;
  return value;
}

Value float_constant(double number, DType dtype) {
  if (dtype == DType::Float32) number = static_cast<float>(number);
  if (dtype == DType::Float16) number = static_cast<double>(static_cast<float>(Half(number)));
  Value value = scalar_value(dtype, float_text(number, dtype));
  value.constant = number;
  value.is_nonnegative = number >= 0;
  value.is_stable = true;
  value.row = AlongRow::Same;
  return value;
}

Value tuple_value(std::vector<Value> items) {
  std::vector<Type> types;
  for (const Value& item : items) types.push_back(item.type);
  Value value;
  value.type = Type::tuple(std::move(types));
  value.items = std::move(items);
  return value;
}

Value external_value(std::string name) {
  Value value;
  value.type = Type::constant();
  value.external = std::move(name);
  return value;
}

std::optional<std::int64_t> most_of(const Value& value) {
  const bool is_int = value.type.is_scalar() &&
                      (value.type.dtype == DType::Int64 || value.type.dtype == DType::Int32);
  if (!is_int) return {};
  const std::optional<std::int64_t> number = value.integer();
  if (!number) return value.most;
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  if (*number > largest || *number < -largest) return {};
  return *number < 0 ? -*number : *number;
}

Value converted(const Value& value, DType dtype) {
  if (value.type.dtype == dtype && !value.is_narrow()) return value;
  if (const std::optional<Value> folded = converted_constant(value, dtype)) return *folded;
  if (dtype == DType::Bool) return truth_of(value);
  if (value.type.dtype == DType::Float16) {
    const Value single = scalar_value(DType::Float32, fmt::format("__half2float({})", value.text));
    return converted(single, dtype);
  }
  if (dtype == DType::Float16) {
    const bool is_double = value.type.dtype == DType::Float64;
    const Value wide = is_double ? value : converted(value, DType::Float32);
    return scalar_value(
        dtype, fmt::format("{}({})", is_double ? "__double2half" : "__float2half", wide.text));
  }
  // The built-in indices are unsigned in C++; as int64 one conversion says all.
  std::string_view from = value.text;
  if (dtype == DType::Int64 && from.starts_with("(int)")) from.remove_prefix(5);
  Value result = scalar_value(
      dtype, fmt::format("({}){}", cpp_type(dtype),
                         value.is_simple ? std::string(from) : "(" + value.text + ")"));
  const bool is_wider =
      is_floating(dtype) || size_of(dtype) > size_of(value.type.dtype) || dtype == DType::Int64;
  result.is_nonnegative |= value.is_nonnegative && is_wider && value.type.dtype != DType::UInt64;
  if (result.is_nonnegative && !is_floating(dtype)) result.least = value.least;
  result.is_stable = value.is_stable;
  if (value.row == AlongRow::Same || dtype == DType::Int64) result.row = value.row;
  return result;
}

std::string typed_text(const Value& value, DType dtype) {
  const Value result = converted(value, dtype);
  if (dtype != DType::Int64 || !result.constant) return in_parentheses(result);
  std::string text = result.text;
  if (text.find("ll") != std::string::npos) return text;
  return text.insert(text.ends_with(')') ? text.size() - 1 : text.size(), "ll");
}

Value truth_of(const Value& value) {
  if (value.type.is_bool()) return value;
  if (value.constant)
    return integer_constant(std::visit([](auto number) { return number != 0; }, *value.constant),
                            DType::Bool);
  const Value computed = converted(value, computed_type(value.type.dtype));
  Value result = scalar_value(DType::Bool, in_parentheses(computed) + " != 0", false);
  result.is_stable = value.is_stable;
  return result;
}

}  // namespace tilewright::numba
