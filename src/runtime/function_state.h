// SPDX-License-Identifier: Apache-2.0
// runtime/function_state.h — a loaded module and its functions, made ready for launching.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/launch_limits.h"

namespace tilewright {

// One device launch of a plan with its kernel.
struct StepState {
  const LaunchStep* step = nullptr;
  LoadedKernel* kernel = nullptr;
  LaunchLimits limits{};
};

struct VariantState {
  const LaunchPlan* plan = nullptr;
  std::vector<StepState> steps;
};

// Lives in its ModuleState; a Function shares ownership of the whole module, so code stays loaded
// while one lives.
struct FunctionState {
  const KernelSource::Kernel* kernel = nullptr;
  Device device;
  Backend* backend = nullptr;
  int processors = 1;
  bool logs_launches = false;
  std::string range;  // of a launch, for NVIDIA's tools: "gelu_kernel (gelu.cu)"; empty without one
  std::vector<VariantState> variants;
  // A single launch of the user's own grid with the user's own arguments in order: no plan to
  // follow. Its other sizes are those of `fixed`; below 0: the user's.
  const StepState* direct = nullptr;
  bool has_fixed_sizes = false;
  LaunchSizes fixed = {{-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, -1};
};

struct ModuleState {
  std::string name;
  Device device;
  std::vector<KernelSource::Kernel> kernels;
  std::unique_ptr<LoadedModule> module;
  std::map<std::string, std::unique_ptr<LoadedKernel>> entries;
  std::vector<FunctionState> functions;
};

// The most parameters that a kernel may have: what a launch keeps on its stack.
inline constexpr std::size_t max_parameters = 256;
inline constexpr std::size_t max_workspaces = 16;
inline constexpr std::size_t max_tensor_maps = 16;

}  // namespace tilewright
