// SPDX-License-Identifier: Apache-2.0
// compiler/triton/signature.cpp — items of a signature, split, matched with parameters and read.
#include "compiler/triton/signature.h"

#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "compiler/triton/constants.h"

namespace tilewright {
namespace {

using triton::ParameterType;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// At commas outside of quotes and brackets.
std::vector<std::string_view> split_items(std::string_view text) {
  std::vector<std::string_view> items;
  if (trim(text).empty()) return items;
  std::size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      items.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  items.push_back(trim(text.substr(begin)));
  return items;
}

std::optional<DType> dtype_named(std::string_view name) {
  try {
    return parse_dtype(name);
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
}

struct Item {
  std::string_view kernel;
  std::size_t number;  // from 1
  std::string_view text;
  const TritonParameter* parameter;

  [[noreturn]] void fail(std::string_view problem) const {
    throw ArgumentError(fmt::format("item {} of the signature of '{}', '{}' for '{}', {}", number,
                                    kernel, text, parameter->name, problem));
  }
};

constexpr std::string_view expected =
    "is neither a type such as *fp32:16, i32 or fp32 nor a constant";

// "*fp32", "*kfp32", "i32" without their promise.
std::optional<ParameterType> parse_typed(std::string_view text) {
  if (text.starts_with('*')) {
    text.remove_prefix(1);
    const std::optional<DType> plain = dtype_named(text);
    if (plain) return pointer_parameter(*plain);
    if (!text.starts_with('k')) return std::nullopt;
    const std::optional<DType> constant = dtype_named(text.substr(1));
    if (constant) return pointer_parameter(*constant, 1, true);
    return std::nullopt;
  }
  const std::optional<DType> dtype = dtype_named(text);
  if (dtype) return scalar_parameter(*dtype);
  return std::nullopt;
}

// "(*fp32, i32)": an argument that is a tuple.
std::optional<ParameterType> parse_tuple(const Item& item);

ParameterType parse_runtime(const Item& item) {
  if (const auto tuple = parse_tuple(item)) return *tuple;
  const std::size_t colon = item.text.rfind(':');
  const std::string_view name = trim(item.text.substr(0, colon));
  std::optional<ParameterType> type = parse_typed(name);
  if (!type) {
    if (const auto constant = parse_constant(item.text)) return constant_parameter(*constant);
    item.fail(expected);
  }
  if (colon == std::string_view::npos) return *type;
  const std::string_view promise = trim(item.text.substr(colon + 1));
  if (promise == "16") {
    if (!type->type.is_pointer && !type->type.is_int())
      item.fail("promises a multiple of 16, which only pointers and integers can be");
    type->divisible = 16;
    return *type;
  }
  if (promise == "1" && type->type.is_int()) return constant_parameter(triton::Value::integer(1));
  item.fail(
      "promises what is not known; write :16 for a multiple of 16, or :1 for an integer that "
      "is always 1");
}

std::optional<ParameterType> parse_tuple(const Item& item) {
  if (!item.text.starts_with('(') || !item.text.ends_with(')')) return std::nullopt;
  ParameterType tuple{.kind = ParameterType::Kind::Tuple};
  for (const std::string_view text : split_items(item.text.substr(1, item.text.size() - 2))) {
    if (text.empty()) continue;  // "(i32,)"
    tuple.items.push_back(parse_runtime({item.kernel, item.number, text, item.parameter}));
  }
  return tuple;
}

ParameterType parse_item(const Item& item) {
  if (item.text.empty()) item.fail("is empty");
  if (!item.parameter->is_constexpr) return parse_runtime(item);
  const auto constant = parse_constant(item.text);
  if (!constant)
    item.fail(
        "is no constant, but the parameter is a tl.constexpr; give a number, true, false, "
        "none, a type or 'text'");
  return constant_parameter(*constant);
}

// The name of "BLOCK=64"; empty for an item by position.
std::string_view name_of_item(std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || item.front() == '\'' || item.front() == '"') return {};
  return trim(item.substr(0, equals));
}

}  // namespace

TritonSignature parse_signature(std::string_view kernel,
                                std::span<const TritonParameter> parameters,
                                std::string_view text) {
  const std::vector<std::string_view> items = split_items(text);
  TritonSignature signature;
  bool named = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view name = name_of_item(items[i]);
    if (name.empty() && (named || i >= parameters.size()))
      throw ArgumentError(
          named ? fmt::format("item {} of the signature of '{}', '{}', has no name, but stands "
                              "after one that has",
                              i + 1, kernel, items[i])
                : fmt::format("the signature of '{}' has {} items, but the kernel takes {}: {}",
                              kernel, items.size(), parameters.size(),
                              fmt::join(names_of(parameters), ", ")));
    named = named || !name.empty();
    const TritonParameter& parameter =
        name.empty() ? parameters[i] : parameter_named(kernel, parameters, name);
    const std::string_view value =
        name.empty() ? items[i] : trim(items[i].substr(items[i].find('=') + 1));
    if (!signature.emplace(parameter.name, parse_item({kernel, i + 1, value, &parameter})).second)
      throw ArgumentError(
          fmt::format("the signature of '{}' gives '{}' twice", kernel, parameter.name));
  }
  for (const TritonParameter& parameter : parameters)
    if (!parameter.has_default && !signature.contains(parameter.name))
      throw ArgumentError(
          fmt::format("the signature of '{}' says nothing of '{}'; it has {} items, but the kernel "
                      "takes {}: {}",
                      kernel, parameter.name, items.size(), parameters.size(),
                      fmt::join(names_of(parameters), ", ")));
  return signature;
}

std::string signature_item(const ParameterType& type) {
  if (type.kind == ParameterType::Kind::Constant) return constant_text(type.constant);
  if (type.kind == ParameterType::Kind::Tuple) {
    std::vector<std::string> items;
    for (const ParameterType& item : type.items) items.push_back(signature_item(item));
    return fmt::format("({})", fmt::join(items, ", "));
  }
  const std::string memory =
      type.memory < 0 ? "" : fmt::format(" in memory {}, address {}", type.memory, type.address);
  if (type.kind == ParameterType::Kind::Descriptor)
    return fmt::format("tensordesc<{}[{}]>{}", name_of(type.type.dtype),
                       fmt::join(type.block_shape, ","), memory);
  return fmt::format("{}{}{}{}{}", type.type.is_pointer ? "*" : "", type.is_const ? "k" : "",
                     name_of(type.type.dtype), type.divisible % 16 == 0 ? ":16" : "", memory);
}

std::string signature_text(std::span<const TritonParameter> parameters,
                           const TritonSignature& signature) {
  std::vector<std::string> items;
  bool named = false;
  for (const TritonParameter& parameter : parameters) {
    const auto found = signature.find(parameter.name);
    if (found == signature.end()) {
      named = true;
      continue;
    }
    items.push_back(named ? fmt::format("{}={}", parameter.name, signature_item(found->second))
                          : signature_item(found->second));
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

ParameterType constant_parameter(triton::Value value) {
  ParameterType type{.kind = ParameterType::Kind::Constant};
  type.constant = std::move(value);
  return type;
}

ParameterType pointer_parameter(DType dtype, int divisible, bool is_const) {
  ParameterType type;
  type.type = ir::Type::pointer(dtype);
  type.divisible = divisible;
  type.is_const = is_const;
  return type;
}

ParameterType scalar_parameter(DType dtype, int divisible) {
  ParameterType type;
  type.type = ir::Type::scalar(dtype);
  type.divisible = divisible;
  return type;
}

}  // namespace tilewright
