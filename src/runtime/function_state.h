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

// A size of a direct launch that depends on the user's grid or arguments.
struct ComputedSize {
  std::int64_t (LaunchSizes::*sizes)[3] = nullptr;
  int axis = 0;
  const PlanExpression* expression = nullptr;
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
  // A single launch with the user's own arguments in order and perhaps sizes of the grid behind
  // them: no plan to follow. Its sizes are those of `fixed`, below 0 the user's, and of `computed`.
  const StepState* direct = nullptr;
  bool has_own_sizes = false;
  LaunchSizes fixed = {{-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, -1};
  std::vector<ComputedSize> computed;
  std::vector<int> grid_size_axes;  // of the parameters behind the arguments
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
