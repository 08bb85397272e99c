// SPDX-License-Identifier: Apache-2.0
// ir/check/types.cpp — arithmetic that runs in float64 because of one scalar of that type.
#include <algorithm>

#include <fmt/format.h>

#include "ir/check/checker.h"

namespace tilewright::ir {
namespace {

const Op* behind_shapes(const Kernel& kernel, Value& value) {
  const Op* maker = kernel.maker(value);
  while (maker != nullptr && maker->facts().maps(Spread | Repeated | Reshaped | Same)) {
    value = maker->operands[0];
    maker = kernel.maker(value);
  }
  return maker;
}

// A narrower float that was widened for this op, by Triton's rules and not by a call.
bool is_widened_for(const Kernel& kernel, const Op& op, Value value) {
  const Op* const maker = behind_shapes(kernel, value);
  return maker != nullptr && maker->kind == OpKind::Cast && maker->location == op.location &&
         kernel.type(maker->operands[0]).is_float() &&
         kernel.type(maker->operands[0]).dtype != DType::Float64;
}

// A constant, or a scalar that the launch gives.
bool is_single_number(const Kernel& kernel, Value value) {
  const Op* const maker = behind_shapes(kernel, value);
  if (maker != nullptr) return maker->kind == OpKind::Constant;
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [&](const KernelArgument& argument) { return argument.value == value; });
}

bool has_float64_memory(const Kernel& kernel) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [&](const KernelArgument& argument) {
                       const Type& type = kernel.type(argument.value);
                       return type.is_pointer && type.dtype == DType::Float64;
                     });
}

}  // namespace

std::vector<Finding> check_types(const Kernel& kernel) {
  std::vector<Finding> findings;
  if (has_float64_memory(kernel)) return findings;
  walk(kernel.body, [&](const Op& op) {
    if (!op.facts().has(Elementwise) || op.operands.size() < 2 || op.kind == OpKind::Offset) return;
    const auto is_wide = [&](Value value) {
      const Type& type = kernel.type(value);
      return type.is_float() && type.dtype == DType::Float64;
    };
    if (!std::all_of(op.operands.begin(), op.operands.end(), is_wide)) return;
    const bool is_slip =
        std::any_of(op.operands.begin(), op.operands.end(),
                    [&](Value value) { return is_widened_for(kernel, op, value); }) &&
        std::any_of(op.operands.begin(), op.operands.end(),
                    [&](Value value) { return is_single_number(kernel, value); });
    if (!is_slip) return;
    Finding finding;
    finding.kind = FindingKind::Float64;
    finding.kernel = kernel.name;
    finding.place = place_of(kernel, op);
    finding.message = "this is computed in float64, because one number of it is a float64";
    finding.has_program = false;
    finding.remedy = "give the number as float32; float64 takes 32 times as long on most GPUs";
    findings.push_back(std::move(finding));
  });
  return findings;
}

}  // namespace tilewright::ir
