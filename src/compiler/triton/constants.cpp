// SPDX-License-Identifier: Apache-2.0
// compiler/triton/constants.cpp — conversions of compile-time values.
#include "compiler/triton/constants.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

using triton::Constant;
using triton::Int128;
using triton::TypeValue;

std::optional<DType> dtype_named(std::string_view name) {
  try {
    return parse_dtype(name);
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
}

std::optional<triton::Value> external_type(std::string_view name) {
  if (!name.starts_with("triton.") && !name.starts_with("torch.")) return std::nullopt;
  const std::optional<DType> dtype = dtype_named(name.substr(name.rfind('.') + 1));
  if (!dtype) return std::nullopt;
  return triton::Value(TypeValue{ir::Type::scalar(*dtype)});
}

std::optional<triton::Value> function_of(const python::FunctionValue& function) {
  const auto* node = python::cast_if<python::FunctionDef>(function.node);
  if (node == nullptr) return std::nullopt;
  return triton::Value(triton::Function{.name = std::string(node->name),
                                        .module = function.module,
                                        .node = node,
                                        .is_jit = !node->decorators.empty()});
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<std::string> quoted(std::string_view text) {
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"')) return std::nullopt;
  if (text.back() != text.front()) return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}

// 4.0 is not 4: a float stays one when it is read back.
std::string number_text(double number) {
  std::string text = fmt::format("{}", number);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

// from_chars would take longer words as well.
std::optional<double> special_number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text != "inf") return std::nullopt;
  return is_negative ? -std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::infinity();
}

// Digits only: "e5" is a word.
bool looks_like_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9'));
}

}  // namespace

std::optional<triton::Value> constant_of(const python::Value& value) {
  if (value.is_none()) return triton::Value();
  if (const auto* flag = value.get_if<bool>()) return triton::Value::boolean(*flag);
  if (const auto* integer = value.get_if<std::int64_t>()) return triton::Value::integer(*integer);
  if (const auto* number = value.get_if<double>()) return triton::Value::number(*number);
  if (const auto* text = value.get_if<std::string>()) return triton::Value::text(*text);
  if (const auto* external = value.get_if<python::ExternalValue>())
    return external_type(external->name);
  if (const auto* function = value.get_if<python::FunctionValue>()) return function_of(*function);
  if (value.items() == nullptr || value.set() != nullptr) return std::nullopt;
  std::vector<triton::Value> items;
  for (const python::Value& item : *value.items()) {
    std::optional<triton::Value> converted = constant_of(item);
    if (!converted) return std::nullopt;
    items.push_back(std::move(*converted));
  }
  return triton::Value::tuple(std::move(items));
}

python::Value host_value_of(const triton::Value& value) {
  if (const auto* type = value.get_if<TypeValue>())
    return python::ExternalValue{fmt::format("triton.language.{}", name_of(type->type.dtype))};
  if (const triton::Tuple* tuple = value.tuple()) {
    std::vector<python::Value> items;
    for (const triton::Value& item : tuple->items) items.push_back(host_value_of(item));
    return python::make_tuple(std::move(items));
  }
  const auto* constant = value.get_if<Constant>();
  if (constant == nullptr) return {};
  if (const auto* flag = std::get_if<bool>(&constant->value)) return *flag;
  if (const auto* number = std::get_if<double>(&constant->value)) return *number;
  if (const auto* text = std::get_if<std::string>(&constant->value)) return *text;
  if (const auto* integer = std::get_if<Int128>(&constant->value))
    return static_cast<std::int64_t>(*integer);
  return {};
}

std::optional<triton::Value> parse_constant(std::string_view text) {
  if (text == "none" || text == "None") return triton::Value();
  if (text == "true" || text == "True") return triton::Value::boolean(true);
  if (text == "false" || text == "False") return triton::Value::boolean(false);
  if (const auto string = quoted(text)) return triton::Value::text(*string);
  if (looks_like_number(text)) {
    if (const auto integer = parse_number<std::int64_t>(text))
      return triton::Value::integer(*integer);
    if (text.find_first_not_of("+-0123456789") == std::string_view::npos) return std::nullopt;
    if (const auto number = parse_number<double>(text)) return triton::Value::number(*number);
    return std::nullopt;
  }
  if (const auto number = special_number(text)) return triton::Value::number(*number);
  for (const std::string_view prefix : {"tl.", "torch.", "triton.language."})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (const std::optional<DType> dtype = dtype_named(text))
    return triton::Value(TypeValue{ir::Type::scalar(*dtype)});
  return std::nullopt;
}

std::string constant_text(const triton::Value& value) {
  if (const auto* type = value.get_if<TypeValue>()) return std::string(name_of(type->type.dtype));
  if (const auto* function = value.get_if<triton::Function>()) return function->name;
  const auto* constant = value.get_if<Constant>();
  if (constant == nullptr) return "?";
  if (const auto* flag = std::get_if<bool>(&constant->value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&constant->value)) return number_text(*number);
  if (const auto* text = std::get_if<std::string>(&constant->value))
    return fmt::format("'{}'", *text);
  if (const auto* integer = std::get_if<Int128>(&constant->value))
    return fmt::format("{}", static_cast<std::int64_t>(*integer));
  return "none";
}

}  // namespace tilewright
