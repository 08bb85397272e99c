// SPDX-License-Identifier: Apache-2.0
// runtime/module.cpp — loading: compile, load on the device, and make every function ready for
// launching.
#include "tilewright/module.h"

#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "base/check.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/nvtx.h"
#include "runtime/arguments.h"
#include "runtime/compile.h"
#include "runtime/function_state.h"
#include "runtime/module_key.h"
#include "runtime/plan.h"

namespace tilewright {
namespace {

// ---- Plans.

void check_step(const LaunchStep& step, const LaunchPlan& plan,
                const KernelSource::Kernel& kernel) {
  TW_CHECK(step.parameters.size() <= max_parameters, "kernel '{}' has {} parameters", step.entry,
           step.parameters.size());
  for (int axis = 0; axis < 3; ++axis) {
    check_expression(step.grid[axis], kernel.name, kernel.parameters);
    check_expression(step.block[axis], kernel.name, kernel.parameters);
    check_expression(step.cluster[axis], kernel.name, kernel.parameters);
  }
  check_expression(step.shared_bytes, kernel.name, kernel.parameters);
  for (const KernelParameter& parameter : step.parameters) {
    std::size_t count = kernel.parameters.size();
    if (parameter.kind == KernelParameter::Kind::GridSize) count = 3;
    if (parameter.kind == KernelParameter::Kind::Workspace) count = plan.workspaces.size();
    TW_CHECK(static_cast<std::size_t>(parameter.index) < count,
             "a parameter of kernel '{}' refers to number {} of {}", kernel.name, parameter.index,
             count);
    if (parameter.kind == KernelParameter::Kind::TensorMap)
      TW_CHECK(static_cast<std::size_t>(parameter.map) < plan.tensor_maps.size(),
               "kernel '{}' has no tensor map {}", kernel.name, parameter.map);
  }
}

void check_tensor_map(const TensorMapPlan& map, const KernelSource::Kernel& kernel) {
  const std::size_t rank = map.sizes.size();
  TW_CHECK(rank >= 1 && rank <= 5 && map.strides.size() + 1 == rank && map.box.size() == rank,
           "a tensor map of kernel '{}' has {} sizes, {} strides, {} box sizes", kernel.name, rank,
           map.strides.size(), map.box.size());
  for (const PlanExpression& size : map.sizes)
    check_expression(size, kernel.name, kernel.parameters);
  for (const PlanExpression& stride : map.strides)
    check_expression(stride, kernel.name, kernel.parameters);
}

void check_plan(const LaunchPlan& plan, const KernelSource::Kernel& kernel) {
  TW_CHECK(plan.workspaces.size() <= max_workspaces && plan.tensor_maps.size() <= max_tensor_maps,
           "kernel '{}' has {} workspaces and {} tensor maps", kernel.name, plan.workspaces.size(),
           plan.tensor_maps.size());
  for (const PlanExpression& condition : plan.conditions) {
    TW_CHECK(!condition.empty(), "kernel '{}' has an empty condition", kernel.name);
    check_expression(condition, kernel.name, kernel.parameters);
  }
  for (const Workspace& workspace : plan.workspaces)
    check_expression(workspace.bytes, kernel.name, kernel.parameters);
  for (const TensorMapPlan& map : plan.tensor_maps) check_tensor_map(map, kernel);
  for (const LaunchStep& step : plan.steps) check_step(step, plan, kernel);
}

// What the device knows is filled in once.
void simplify_step(LaunchStep& step, std::int64_t processors) {
  for (int axis = 0; axis < 3; ++axis)
    for (PlanExpression* size : {&step.grid[axis], &step.block[axis], &step.cluster[axis]})
      *size = simplified(*size, processors);
  step.shared_bytes = simplified(step.shared_bytes, processors);
}

// One launch with the user's arguments in order, and behind them nothing but sizes of the grid.
bool takes_arguments_in_order(const LaunchPlan& plan, std::size_t argument_count) {
  if (!plan.conditions.empty() || !plan.workspaces.empty() || plan.steps.size() != 1) return false;
  const std::vector<KernelParameter>& parameters = plan.steps[0].parameters;
  if (parameters.size() < argument_count || parameters.size() > argument_count + 3) return false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool is_own = parameters[i].kind == KernelParameter::Kind::Argument &&
                        parameters[i].index == static_cast<int>(i);
    if (i < argument_count ? !is_own : parameters[i].kind != KernelParameter::Kind::GridSize)
      return false;
  }
  return true;
}

bool has_own_sizes(const LaunchStep& step) {
  bool has = !step.shared_bytes.empty();
  for (int axis = 0; axis < 3; ++axis)
    has |= !step.grid[axis].empty() || !step.block[axis].empty() || !step.cluster[axis].empty();
  return has;
}

std::optional<std::int64_t> constant_of(const PlanExpression& size) {
  if (size.size() != 1 || size[0].kind != PlanOp::Kind::Constant) return std::nullopt;
  return size[0].value;
}

// The axis of the grid that an expression depends on, -1 when on more than that.
int only_grid_axis(const PlanExpression& size) {
  int axis = -1;
  for (const PlanOp& op : size) {
    const bool is_other = op.kind == PlanOp::Kind::Block || op.kind == PlanOp::Kind::SharedBytes ||
                          op.kind == PlanOp::Kind::Argument || op.kind == PlanOp::Kind::IsAligned;
    const bool is_grid = op.kind == PlanOp::Kind::Grid;
    if (is_other || (is_grid && axis >= 0 && axis != op.value)) return -1;
    if (is_grid) axis = static_cast<int>(op.value);
  }
  return axis;
}

// None when a size is the user's own, and for clusters: those go by the plan.
std::optional<ShapedStep> shape_of(const StepState& step, std::size_t argument_count) {
  const LaunchStep& plan = *step.step;
  ShapedStep shaped{.step = &step};
  LaunchSizes sizes{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, constant_of(plan.shared_bytes).value_or(-1)};
  for (int axis = 0; axis < 3; ++axis) {
    if (plan.block[axis].empty() || constant_of(plan.cluster[axis]).value_or(1) != 1)
      return std::nullopt;
    if (!plan.grid[axis].empty())
      shaped.computed.push_back({&PreparedLaunch::grid, axis, step.limits.grid[axis],
                                 &plan.grid[axis], only_grid_axis(plan.grid[axis])});
    if (const std::optional<std::int64_t> size = constant_of(plan.block[axis]))
      sizes.block[axis] = *size;
    else
      shaped.computed.push_back({&PreparedLaunch::block, axis, step.limits.block[axis],
                                 &plan.block[axis], only_grid_axis(plan.block[axis])});
    shaped.launch.block[axis] = static_cast<std::uint32_t>(sizes.block[axis]);
  }
  shaped.launch.shared_bytes = static_cast<std::uint32_t>(sizes.shared_bytes);
  if (!step.limits.allow(sizes)) return std::nullopt;
  for (std::size_t i = argument_count; i < plan.parameters.size(); ++i)
    shaped.grid_size_axes.push_back(plan.parameters[i].index);
  return shaped;
}

// ---- Functions.

LoadedKernel& entry_of(ModuleState& module, const std::string& entry) {
  std::unique_ptr<LoadedKernel>& kernel = module.entries[entry];
  if (!kernel) kernel = module.module->kernel(entry);
  if (!kernel)
    throw ArgumentError(
        fmt::format("source '{}' compiles but has no kernel '{}'; check the name, and extern \"C\" "
                    "where it is used",
                    module.name, entry));
  return *kernel;
}

void prepare_function(ModuleState& module, const KernelSource::Kernel& kernel,
                      FunctionState& function) {
  if (kernel.parameters.size() > max_parameters)
    throw ArgumentError(fmt::format("kernel '{}' takes {} arguments; at most {} are possible",
                                    kernel.name, kernel.parameters.size(), max_parameters));
  function.kernel = &kernel;
  function.device = module.device;
  function.backend = &backend(module.device);
  for (const Parameter& parameter : kernel.parameters)
    function.usual.push_back(usual_argument(parameter));
  function.processors = module.device.target().processors;
  function.logs_launches = logs("launch");
  const std::string& label = kernel.label ? *kernel.label : kernel.name;
  if (nvtx_takes_launches() && !label.empty())
    function.range = fmt::format("{} ({})", label, module.name);
  for (const LaunchPlan& plan : kernel.variants) {
    check_plan(plan, kernel);
    VariantState& variant = function.variants.emplace_back();
    variant.plan = &plan;
    for (const LaunchStep& step : plan.steps) {
      LoadedKernel& loaded = entry_of(module, step.entry);
      variant.steps.push_back({&step, &loaded, launch_limits(module.device, loaded),
                               plan.steps.size() == 1 ? label : step.entry});
    }
  }
  if (kernel.otherwise) function.otherwise = std::make_unique<OtherFunction>();
  const std::size_t count = kernel.parameters.size();
  if (kernel.variants.size() != 1 || !takes_arguments_in_order(kernel.variants[0], count)) return;
  const StepState& only = function.variants[0].steps[0];
  if (has_own_sizes(*only.step)) function.shaped = shape_of(only, count);
  else if (only.step->parameters.size() == count) function.direct = &only;
}

std::shared_ptr<ModuleState> load_module(const KernelSource& source, Device device) {
  const bool needs_cuda = source.language == Language::Cuda;
  if (needs_cuda != device.is_cuda())
    throw ArgumentError(fmt::format("source '{}' is {} and cannot be loaded on {}", source.name,
                                    needs_cuda ? "CUDA C++" : "C++ for the CPU", device.name()));
  auto module = std::make_shared<ModuleState>();
  module->name = source.name;
  module->device = device;
  module->kernels = source.kernels;
  for (KernelSource::Kernel& kernel : module->kernels) {
    if (kernel.variants.empty())
      kernel.variants.push_back(direct_plan(kernel.name, kernel.parameters.size()));
    for (LaunchPlan& plan : kernel.variants)
      for (LaunchStep& step : plan.steps) simplify_step(step, device.target().processors);
  }
  module->module = backend(device).load(compile(source, device.target()), source, device.index);
  module->functions.resize(module->kernels.size());
  for (std::size_t i = 0; i < module->kernels.size(); ++i)
    prepare_function(*module, module->kernels[i], module->functions[i]);
  return module;
}

// ---- The cache in memory.

// One source on one device: whoever comes first loads it while the others wait.
struct CacheEntry {
  std::mutex mutex;
  std::weak_ptr<ModuleState> module;
};

// Modules live as long as someone holds them; the last ones loaded also live without, so that a
// program that loads the same source again and again pays once.
class ModuleCache {
 public:
  std::shared_ptr<CacheEntry> entry(const Hash128& key, Device device) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<CacheEntry>& entry = entries_[{key.high, key.low, device.index}];
    if (!entry) entry = std::make_shared<CacheEntry>();
    return entry;
  }

  void keep(std::shared_ptr<ModuleState> module) {
    std::shared_ptr<ModuleState> dropped;  // unloaded after the lock
    const std::lock_guard lock(mutex_);
    recent_.push_back(std::move(module));
    if (recent_.size() <= kept_) return;
    dropped = std::move(recent_.front());
    recent_.pop_front();
  }

 private:
  static constexpr std::size_t kept_ = 16;
  std::mutex mutex_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::shared_ptr<CacheEntry>> entries_;
  std::deque<std::shared_ptr<ModuleState>> recent_;
};

// Never destroyed: at the end of the process the driver may be gone before us.
ModuleCache& module_cache() {
  static auto* const cache = new ModuleCache;
  return *cache;
}

std::shared_ptr<ModuleState> cached_module(const KernelSource& source, Device device) {
  checked_backend(device);
  // Headers in the caller's folders may change while this process runs: the disk cache decides
  // about those.
  if (!source.include_folders.empty()) return load_module(source, device);
  const std::shared_ptr<CacheEntry> entry = module_cache().entry(module_key(source), device);
  const std::lock_guard lock(entry->mutex);
  std::shared_ptr<ModuleState> module = entry->module.lock();
  if (module) return module;
  module = load_module(source, device);
  entry->module = module;
  module_cache().keep(module);
  return module;
}

std::vector<std::string> kernel_names(const ModuleState& module) {
  std::vector<std::string> all;
  for (const KernelSource::Kernel& kernel : module.kernels) all.push_back(kernel.name);
  return all;
}

std::shared_ptr<FunctionState> function_of(const std::shared_ptr<ModuleState>& module,
                                           std::string_view name) {
  for (FunctionState& function : module->functions)
    if (function.kernel->name == name) return {module, &function};
  throw ArgumentError(fmt::format("source '{}' has no kernel '{}'{}", module->name, name,
                                  suggest_names(name, kernel_names(*module))));
}

}  // namespace

std::shared_ptr<const FunctionState> load_function_state(const KernelSource& source, Device device,
                                                         std::string_view name) {
  return function_of(cached_module(source, device), name);
}

Module Module::load(const KernelSource& source, Device device) {
  Module result;
  result.state_ = cached_module(source, device);
  return result;
}

Function Module::function(std::string_view name) const {
  if (!state_) throw ArgumentError("an empty Module has no functions; load one first");
  return Function(function_of(state_, name));
}

std::vector<std::string> Module::names() const {
  if (!state_) return {};
  return kernel_names(*state_);
}

Device Module::device() const {
  if (!state_) throw ArgumentError("an empty Module has no device; load one first");
  return state_->device;
}

}  // namespace tilewright
