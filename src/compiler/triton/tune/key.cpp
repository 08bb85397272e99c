// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/key.cpp — joins values and types.
#include "compiler/triton/tune/key.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {
namespace {

using triton::ParameterType;

bool is_pointer(const ParameterType& type) {
  return type.kind != ParameterType::Kind::Constant && type.type.is_pointer;
}

void add_options(const TritonLaunch& launch, std::vector<std::string>& items) {
  const auto add = [&](std::string_view name, const std::optional<int>& value) {
    if (value) items.push_back(fmt::format("{}={}", name, *value));
  };
  add("num_warps", launch.num_warps);
  add("num_stages", launch.num_stages);
  add("num_ctas", launch.num_ctas);
  add("maxnreg", launch.maxnreg);
  if (!launch.fp_fusion) items.emplace_back("no fp_fusion");
  if (launch.flush_to_zero) items.emplace_back("flush_to_zero");
  if (launch.debug) items.emplace_back("debug");
}

}  // namespace

std::string tune_key(const LaunchRequest& request, const KernelAutotune* autotune) {
  std::vector<std::string> items;
  for (const TritonParameter& parameter : request.state.parameters) {
    if (autotune == nullptr) break;
    const std::vector<std::string>& key = autotune->content.key;
    if (std::find(key.begin(), key.end(), parameter.name) == key.end()) continue;
    const python::Value* value = request.arguments.find(parameter.name);
    const auto type = request.given.find(parameter.name);
    if (value == nullptr || (type != request.given.end() && is_pointer(type->second))) continue;
    items.push_back(fmt::format("{}={}", parameter.name, python::repr(*value)));
  }
  for (const TritonParameter& parameter : request.state.parameters) {
    const auto type = request.given.find(parameter.name);
    if (type == request.given.end() || !is_pointer(type->second)) continue;
    items.push_back(fmt::format("{}:{}", parameter.name, name_of(type->second.type.dtype)));
  }
  add_options(request.launch, items);
  return fmt::format("{}", fmt::join(items, ", "));
}

bool lacks_constants(const LaunchRequest& request) {
  using Kind = python::Decorator::Kind;
  const python::DecoratedFunction& function = request.state.function;
  if (function.find(Kind::Autotune) != nullptr || function.find(Kind::Heuristics) != nullptr)
    return false;
  return std::any_of(request.state.parameters.begin(), request.state.parameters.end(),
                     [&](const TritonParameter& parameter) {
                       return parameter.is_constexpr && !parameter.has_default &&
                              !request.given.contains(parameter.name);
                     });
}

}  // namespace tilewright
