// SPDX-License-Identifier: Apache-2.0
// runtime/function_state.h — a loaded module and its functions, made ready for launching.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"
#include "runtime/launch_limits.h"

namespace tilewright {

// One device launch of a plan with its kernel.
struct StepState {
  const LaunchStep* step = nullptr;
  LoadedKernel* kernel = nullptr;
  LaunchLimits limits{};
  std::string_view label = {};  // of its launches in profiles; empty: they are not recorded
};

struct VariantState {
  const LaunchPlan* plan = nullptr;
  std::vector<StepState> steps;
};

// What a size was for the grid before, in one word: launches come with the same grid again and
// again, from any thread.
class LastSize {
 public:
  LastSize() = default;
  LastSize(const LastSize&) {}  // begins anew

  std::optional<std::uint32_t> of(std::uint32_t grid) const {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    if (word >> 32 != grid) return std::nullopt;
    return static_cast<std::uint32_t>(word);
  }
  void keep(std::uint32_t grid, std::uint32_t size) const {
    word_.store(std::uint64_t{grid} << 32 | size, std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<std::uint64_t> word_{0};  // no grid is 0
};

// A size that depends on the user's grid or arguments; at least 1 and at most `limit`.
struct ComputedSize {
  std::uint32_t (PreparedLaunch::*sizes)[3] = nullptr;
  int axis = 0;
  std::uint64_t limit = 0;
  const PlanExpression* expression = nullptr;
  int grid_axis = -1;  // where it depends on nothing but the grid along it
  LastSize last = {};
};

// Most kernels have a plan of one launch with the user's arguments in order, and perhaps sizes of
// the grid behind them: nothing of it is decided at the launch but the grid and what is computed.
struct ShapedStep {
  const StepState* step = nullptr;
  PreparedLaunch launch;  // with the block and the shared memory, found to be in range
  std::vector<ComputedSize> computed;
  std::vector<int> grid_size_axes;  // of the parameters behind the arguments
};

// What a parameter is given nearly always, as types to compare (type_word in arguments.h).
struct UsualArgument {
  static constexpr std::uint32_t no_type = ~std::uint32_t{0};
  std::uint32_t first = no_type;   // a scalar or a tensor of exactly its type
  std::uint32_t second = no_type;  // a typed address, or an int64 that must be in range of int32
  bool needs_contiguous = false;
};

// What launches take that no variant is for, loaded by the first of them, from any thread.
struct FunctionState;
struct OtherFunction {
  std::mutex mutex;
  std::shared_ptr<const FunctionState> loaded;
};

// Lives in its ModuleState; a Function shares ownership of the whole module, so code stays loaded
// while one lives.
struct FunctionState {
  const KernelSource::Kernel* kernel = nullptr;
  Device device;
  Backend* backend = nullptr;
  std::vector<UsualArgument> usual;  // per parameter
  int processors = 1;
  bool logs_launches = false;
  std::string range;  // of a launch, for NVIDIA's tools: "gelu_kernel (gelu.cu)"; empty without one
  std::vector<VariantState> variants;
  // A single launch with the user's own sizes and arguments in order: no plan to follow.
  const StepState* direct = nullptr;
  std::optional<ShapedStep> shaped;
  std::unique_ptr<OtherFunction> otherwise;  // of KernelSource::Kernel::otherwise
};

struct ModuleState {
  std::string name;
  Device device;
  std::vector<KernelSource::Kernel> kernels;
  std::unique_ptr<LoadedModule> module;
  std::map<std::string, std::unique_ptr<LoadedKernel>> entries;
  std::vector<FunctionState> functions;
};

// The function of that name of a source, loaded as Module::load does it.
std::shared_ptr<const FunctionState> load_function_state(const KernelSource& source, Device device,
                                                         std::string_view name);

// The quick way of callers that know their arguments to be those of `function.direct`: `launch` has
// the stream, whether it is cooperative, and the parameters; the sizes are still checked.
void launch_direct(const FunctionState& function, const LaunchSizes& sizes, PreparedLaunch& launch);
// The stream of a launch: the one that is asked for, else the device's current one.
void* stream_of(const FunctionState& function, const std::optional<Stream>& stream);

// The most parameters that a kernel may have: what a launch keeps on its stack.
inline constexpr std::size_t max_parameters = 256;
inline constexpr std::size_t max_workspaces = 16;
inline constexpr std::size_t max_tensor_maps = 16;

}  // namespace tilewright
