// SPDX-License-Identifier: Apache-2.0
// cli/check_strides.cpp — compares integers with the strides of tensors.
#include "cli/check_strides.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/triton/constants.h"
#include "compiler/triton/triton_state.h"

namespace tilewright::cli {
namespace {

std::optional<std::int64_t> integer_in(const NamedValue& value) {
  const auto* given = std::get_if<triton::Value>(&value.value);
  const auto* constant = given == nullptr ? nullptr : given->get_if<triton::Constant>();
  const auto* integer =
      constant == nullptr ? nullptr : std::get_if<triton::Int128>(&constant->value);
  if (integer == nullptr) return std::nullopt;
  return static_cast<std::int64_t>(*integer);
}

}  // namespace

std::vector<ir::Finding> check_strides(const TritonKernel& kernel,
                                       const std::vector<NamedValue>& values) {
  std::set<std::int64_t> strides = {0, 1};
  std::vector<std::string> shapes;
  for (const NamedValue& value : values) {
    const Tensor* const tensor = value.tensor();
    if (tensor == nullptr) continue;
    if (tensor->shape().size() < 2) return {};
    strides.insert(tensor->strides().begin(), tensor->strides().end());
    shapes.push_back(fmt::format("{} has {}", value.name, fmt::join(tensor->strides(), ", ")));
  }
  std::vector<ir::Finding> findings;
  for (const NamedValue& value : values) {
    const std::optional<std::int64_t> integer = integer_in(value);
    if (shapes.empty() || !integer || value.name.find("stride") == std::string::npos) continue;
    if (strides.contains(*integer)) continue;
    const auto& function = kernel.state()->function;
    ir::Finding finding;
    finding.kind = ir::FindingKind::Stride;
    finding.kernel = kernel.name();
    finding.place = {function.module->tree->source.file, function.function->span.line,
                     function.function->span.column};
    finding.has_program = false;
    finding.message =
        fmt::format("argument '{}' is {}, which is no stride of any tensor", value.name, *integer);
    finding.values.push_back(fmt::format("strides: {}", fmt::join(shapes, "; ")));
    finding.remedy = "pass the tensor's own stride, x.stride(0)";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace tilewright::cli
