// SPDX-License-Identifier: Apache-2.0
// base/kernel_source.cpp — the plan of a raw kernel, and the version of the library.
#include "tilewright/kernel_source.h"

#include "tilewright/version.h"

namespace tilewright {

const char* version() { return TILEWRIGHT_VERSION; }

LaunchPlan direct_plan(const std::string& entry, std::size_t parameter_count) {
  LaunchStep step;
  step.entry = entry;
  for (std::size_t i = 0; i < parameter_count; ++i)
    step.parameters.push_back({KernelParameter::Kind::Argument, static_cast<int>(i)});
  LaunchPlan plan;
  plan.steps.push_back(std::move(step));
  return plan;
}

}  // namespace tilewright
