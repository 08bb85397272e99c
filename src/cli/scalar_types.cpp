// SPDX-License-Identifier: Apache-2.0
// cli/scalar_types.cpp — the type goes into the kernel's own table of parameters.
#include "cli/scalar_types.h"

#include <fmt/format.h>

#include "compiler/triton/argument_key.h"
#include "compiler/triton/constants.h"
#include "compiler/triton/triton_state.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

bool holds_number(DType dtype, const triton::Value& number) {
  const auto& content = number.get_if<triton::Constant>()->value;
  const auto* integer = std::get_if<triton::Int128>(&content);
  if (is_floating(dtype)) return true;
  if (integer == nullptr) return false;
  const auto wanted = static_cast<std::int64_t>(*integer);
  return tensor({wanted}, Device::cpu()).to(dtype).item<std::int64_t>() == wanted;
}

bool is_number(const triton::Value& value) {
  const auto* constant = value.get_if<triton::Constant>();
  return constant != nullptr && (std::holds_alternative<triton::Int128>(constant->value) ||
                                 std::holds_alternative<double>(constant->value));
}

}  // namespace

std::optional<TypedNumber> typed_number(const std::string& name, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {};
  const auto number = parse_constant(std::string_view(text).substr(0, colon));
  if (!number || !is_number(*number)) return {};
  DType dtype = DType::Int32;
  try {
    dtype = parse_dtype(std::string_view(text).substr(colon + 1));
  } catch (const ArgumentError& error) {
    throw ArgumentError(fmt::format("{}={}: {}", name, text, error.what()));
  }
  if (!holds_number(dtype, *number))
    throw ArgumentError(
        fmt::format("{}={}: {} cannot hold {}", name, text, name_of(dtype), text.substr(0, colon)));
  return TypedNumber{text.substr(0, colon), dtype};
}

std::string take_scalar_type(const TritonKernel& kernel, const std::string& name,
                             const std::string& text) {
  const std::optional<TypedNumber> number = typed_number(name, text);
  if (!number) return text;
  TritonKernel::State& state = *kernel.state();
  for (TritonParameter& parameter : state.parameters) {
    if (parameter.name != name) continue;
    if (parameter.is_constexpr)
      throw ArgumentError(
          fmt::format("{}={}: '{}' is a tl.constexpr, which has no type; leave out :{}", name, text,
                      name, text.substr(number->text.size() + 1)));
    parameter.type = ir::Type::scalar(number->dtype);
    state.key_rules = key_rules_of(state.parameters);
  }
  return number->text;
}

}  // namespace tilewright::cli
