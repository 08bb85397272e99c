// SPDX-License-Identifier: Apache-2.0
// runtime/launch.cpp — launching: the direct way of a raw kernel, and following a plan.
#include <array>
#include <memory>

#include "base/check.h"
#include "base/events.h"
#include "base/log.h"
#include "base/nvtx.h"
#include "runtime/arguments.h"
#include "runtime/function_state.h"
#include "runtime/kernel_graph.h"
#include "runtime/plan.h"
#include "tilewright/module.h"

namespace tilewright {

void* stream_of(const FunctionState& function, const std::optional<Stream>& stream) {
  if (!stream) return current_stream(function.device).native();
  if (stream->device() != function.device)
    throw ArgumentError(fmt::format("kernel '{}' is loaded on {} and cannot run on a stream of {}",
                                    function.kernel->name, function.device.name(),
                                    stream->device().name()));
  return stream->native();
}

namespace {

LaunchSizes user_sizes(const LaunchConfig& config) {
  return {.grid = {config.grid.x, config.grid.y, config.grid.z},
          .block = {config.block.x, config.block.y, config.block.z},
          .cluster = {config.cluster.x, config.cluster.y, config.cluster.z},
          .shared_bytes = static_cast<std::int64_t>(config.shared_bytes)};
}

void log_launch(const FunctionState& function, const StepState& step,
                const PreparedLaunch& launch) {
  log_line("launch",
           fmt::format("{} on {}: {} grid {} x {} x {}, block {} x {} x {}, {} bytes shared",
                       function.kernel->name, function.device.name(), step.step->entry,
                       launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                       launch.block[1], launch.block[2], launch.shared_bytes));
}

// Checked sizes and parameters go to the device.
void send(const FunctionState& function, const StepState& step, const PreparedLaunch& launch) {
  if (function.logs_launches) [[unlikely]]
    log_launch(function, step, launch);
  const NvtxScope range(function.range);
  if (step.label.empty()) return step.kernel->launch(launch);  // its caller records it
  EventScope event(EventKind::Launch, step.label);
  if (event.is_heard()) [[unlikely]]
    event.describe(fmt::format("grid {} {} {}", launch.grid[0], launch.grid[1], launch.grid[2]));
  step.kernel->launch(launch);
}

void run_step(const FunctionState& function, const StepState& step, const LaunchSizes& sizes,
              PreparedLaunch& launch) {
  if (!step.limits.allow(sizes)) [[unlikely]]
    throw_sizes_out_of_range(function.kernel->name, step.limits, sizes);
  if (sizes.is_empty()) return;
  for (int axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = static_cast<std::uint32_t>(sizes.grid[axis]);
    launch.block[axis] = static_cast<std::uint32_t>(sizes.block[axis]);
    launch.cluster[axis] = static_cast<std::uint32_t>(sizes.cluster[axis]);
  }
  launch.shared_bytes = static_cast<std::uint32_t>(sizes.shared_bytes);
  send(function, step, launch);
}

// Converted arguments: `bits` holds the values; a struct's bits are its own address.
struct ArgumentValues {
  std::uint64_t bits[max_parameters];
  void* addresses[max_parameters];
};

const Argument& argument_of(const Argument& argument) { return argument; }
const Argument& argument_of(const Argument* argument) { return *argument; }

[[gnu::noinline]] void take_unusual(const FunctionState& function, std::size_t index,
                                    const Argument& argument, ArgumentValues& values) {
  values.bits[index] = checked_bits(function, index, argument);
  if (argument.kind == Argument::Kind::Opaque)
    values.addresses[index] = reinterpret_cast<void*>(values.bits[index]);
}

template <class Item>
void take_arguments(const FunctionState& function, std::span<const Item> arguments, void* stream,
                    ArgumentValues& values) {
  if (arguments.size() != function.usual.size()) [[unlikely]]
    throw_wrong_count(function, arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = argument_of(arguments[i]);
    const UsualArgument& usual = function.usual[i];
    const std::uint32_t type = type_word(argument);
    bool is_usual = type == usual.first;
    values.bits[i] = argument.bits;
    values.addresses[i] = &values.bits[i];
    if (argument.kind == Argument::Kind::Memory) {
      is_usual = is_usual && argument.device == function.device &&
                 (argument.is_contiguous || !usual.needs_contiguous);
      record_use(argument, stream);
    }
    if (!is_usual) [[unlikely]] {
      const bool is_second = type == usual.second &&
                             (argument.kind == Argument::Kind::Pointer || is_int32(argument.bits));
      if (!is_second) take_unusual(function, i, argument, values);
    }
  }
}

// ---- Plans.

// Memory of one launch, given back in stream order when the launch is queued.
class WorkspaceBlock {
 public:
  WorkspaceBlock() = default;
  ~WorkspaceBlock() {
    if (!data_) return;
    try {
      function_->backend->free(data_, bytes_, function_->device.index, MemoryKind::Device, stream_,
                               {});
    } catch (const std::exception& error) {
      warn_once(fmt::format("the workspace of a kernel could not be freed: {}", error.what()));
    }
  }
  WorkspaceBlock(const WorkspaceBlock&) = delete;
  WorkspaceBlock& operator=(const WorkspaceBlock&) = delete;

  void allocate(const FunctionState& function, std::size_t bytes, bool zeroed, void* stream) {
    if (bytes == 0) return;
    if (kernel_sink != nullptr) throw NotANode{"it needs memory of its own"};
    const int index = function.device.index;
    data_ = function.backend->allocate(bytes, index, MemoryKind::Device, stream);
    bytes_ = bytes;
    stream_ = stream;
    function_ = &function;
    const std::byte zero{0};
    if (zeroed) function.backend->fill(data_, bytes, {&zero, 1}, index, stream);
  }
  void* const* address() const { return &data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  void* stream_ = nullptr;
  const FunctionState* function_ = nullptr;
};

// Those of one launch. Most have none, and pay nothing for the room.
class Workspaces {
 public:
  Workspaces() {}  // `= default` would clear the memory
  ~Workspaces() {
    while (count_ > 0) std::destroy_at(&(*this)[--count_]);
  }
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;

  WorkspaceBlock& add() {
    TW_CHECK(count_ < max_workspaces, "too many workspaces");
    return *std::construct_at(&(*this)[count_++]);
  }
  WorkspaceBlock& operator[](std::size_t index) {
    return reinterpret_cast<WorkspaceBlock*>(memory_)[index];
  }

 private:
  std::size_t count_ = 0;
  alignas(WorkspaceBlock) std::byte memory_[max_workspaces * sizeof(WorkspaceBlock)];
};

// All that the steps of one planned launch share. Lives on the stack; its arrays are filled only as
// far as they are used.
struct PlannedLaunch {
  const FunctionState& function;
  const VariantState& variant;
  const PlanInputs& inputs;
  const LaunchSizes& user;
  const ArgumentValues& values;
  PreparedLaunch& launch;
  Workspaces& workspaces;
  std::int32_t grid_sizes[3];
};

// Null where another function takes the launch.
const VariantState* choose_variant(const FunctionState& function, const PlanInputs& inputs) {
  for (const VariantState& variant : function.variants) {
    bool holds = true;
    for (const PlanExpression& condition : variant.plan->conditions)
      holds = holds && evaluate(condition, inputs) != 0;
    if (holds) return &variant;
  }
  if (function.otherwise) return nullptr;
  throw ArgumentError(fmt::format("kernel '{}' has no variant for these arguments and sizes",
                                  function.kernel->name));
}

const FunctionState& other_function(const FunctionState& function) {
  OtherFunction& other = *function.otherwise;
  const std::lock_guard lock(other.mutex);
  if (!other.loaded)
    other.loaded =
        load_function_state(*function.kernel->otherwise, function.device, function.kernel->name);
  return *other.loaded;
}

void allocate_workspaces(PlannedLaunch& planned) {
  const std::vector<Workspace>& wanted = planned.variant.plan->workspaces;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t bytes = evaluate_or(wanted[i].bytes, planned.inputs, 0);
    if (bytes < 0)
      throw ArgumentError(
          fmt::format("kernel '{}' cannot be launched with these arguments and sizes: its "
                      "workspace has {} bytes",
                      planned.function.kernel->name, bytes));
    planned.workspaces.add().allocate(planned.function, static_cast<std::size_t>(bytes),
                                      wanted[i].zeroed, planned.launch.stream);
  }
}

void encode_tensor_map(const PlannedLaunch& planned, const KernelParameter& parameter,
                       TensorMap& map) {
  const TensorMapPlan& plan =
      planned.variant.plan->tensor_maps[static_cast<std::size_t>(parameter.map)];
  TensorMapRequest request;
  request.address = reinterpret_cast<void*>(planned.values.bits[parameter.index]);
  request.dtype = plan.dtype;
  request.rank = static_cast<int>(plan.sizes.size());
  request.swizzle_bytes = plan.swizzle_bytes;
  request.rounds_to_tf32 = plan.rounds_to_tf32;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    request.sizes[i] = static_cast<std::uint64_t>(evaluate_or(plan.sizes[i], planned.inputs, 1));
    request.box[i] = plan.box[i];
    if (i < plan.strides.size())
      request.strides[i] =
          static_cast<std::uint64_t>(evaluate_or(plan.strides[i], planned.inputs, 0));
  }
  planned.function.backend->encode_tensor_map(request, map, planned.function.device.index);
}

LaunchSizes step_sizes(const LaunchStep& step, const PlannedLaunch& planned) {
  LaunchSizes sizes = planned.user;
  for (int axis = 0; axis < 3; ++axis) {
    sizes.grid[axis] = evaluate_or(step.grid[axis], planned.inputs, sizes.grid[axis]);
    sizes.block[axis] = evaluate_or(step.block[axis], planned.inputs, sizes.block[axis]);
    sizes.cluster[axis] = evaluate_or(step.cluster[axis], planned.inputs, sizes.cluster[axis]);
  }
  sizes.shared_bytes = evaluate_or(step.shared_bytes, planned.inputs, sizes.shared_bytes);
  return sizes;
}

void run_planned_step(PlannedLaunch& planned, const StepState& step) {
  void* addresses[max_parameters];
  TensorMap maps[max_tensor_maps];
  std::size_t map_count = 0;
  for (std::size_t i = 0; i < step.step->parameters.size(); ++i) {
    const KernelParameter& parameter = step.step->parameters[i];
    const auto index = static_cast<std::size_t>(parameter.index);
    switch (parameter.kind) {
      case KernelParameter::Kind::Argument:
        addresses[i] = planned.values.addresses[index];
        break;
      case KernelParameter::Kind::GridSize:
        addresses[i] = &planned.grid_sizes[index];
        break;
      case KernelParameter::Kind::Workspace:
        addresses[i] = const_cast<void**>(planned.workspaces[index].address());
        break;
      case KernelParameter::Kind::TensorMap:
        TW_CHECK(map_count < max_tensor_maps, "kernel '{}' takes too many tensor maps",
                 step.step->entry);
        encode_tensor_map(planned, parameter, maps[map_count]);
        addresses[i] = &maps[map_count++];
        break;
    }
  }
  planned.launch.parameters = addresses;
  run_step(planned.function, step, step_sizes(*step.step, planned), planned.launch);
}

PlanInputs plan_inputs(const FunctionState& function, const std::int64_t* grid,
                       const std::int64_t* block, std::size_t shared_bytes,
                       const ArgumentValues& values) {
  return {.kernel = function.kernel->name,
          .parameters = function.kernel->parameters,
          .values = values.bits,
          .grid = grid,
          .block = block,
          .shared_bytes = static_cast<std::int64_t>(shared_bytes),
          .processors = function.processors};
}

[[gnu::noinline]] void launch_plan(const FunctionState& function, const LaunchSizes& user,
                                   const ArgumentValues& values, PreparedLaunch& launch) {
  const PlanInputs inputs = plan_inputs(function, user.grid, user.block,
                                        static_cast<std::size_t>(user.shared_bytes), values);
  const VariantState* const variant = choose_variant(function, inputs);
  if (variant == nullptr) return launch_plan(other_function(function), user, values, launch);
  Workspaces workspaces;
  PlannedLaunch planned{function, *variant, inputs, user, values, launch, workspaces, {}};
  for (int axis = 0; axis < 3; ++axis) {
    // The kernel knows its grid as int32; sizes beyond are out of range on every device.
    if (user.grid[axis] < 0 || user.grid[axis] > INT32_MAX)
      throw ArgumentError(
          fmt::format("the grid of kernel '{}' has size {} along {}; it must be 0 to {}",
                      function.kernel->name, user.grid[axis], "xyz"[axis], INT32_MAX));
    planned.grid_sizes[axis] = static_cast<std::int32_t>(user.grid[axis]);
  }
  if (user.is_empty()) return;
  allocate_workspaces(planned);
  for (const StepState& step : planned.variant.steps) run_planned_step(planned, step);
}

const FunctionState& checked_state(const std::shared_ptr<FunctionState>& state) {
  if (!state) throw ArgumentError("an empty Function was used; take one from a Module first");
  return *state;
}

// Questions about a planned kernel are answered for the first step of its first variant.
LoadedKernel& main_kernel(const FunctionState& function) {
  TW_CHECK(!function.variants.empty() && !function.variants[0].steps.empty(),
           "kernel '{}' has no steps", function.kernel->name);
  return *function.variants[0].steps[0].kernel;
}

}  // namespace

namespace {

// 0 when it is out of range.
[[gnu::noinline]] std::uint32_t evaluate_size(const FunctionState& function,
                                              const LaunchConfig& config,
                                              const ArgumentValues& values,
                                              const ComputedSize& size) {
  const std::int64_t grid[3] = {config.grid.x, config.grid.y, config.grid.z};
  const std::int64_t block[3] = {config.block.x, config.block.y, config.block.z};
  const PlanInputs inputs = plan_inputs(function, grid, block, config.shared_bytes, values);
  const std::int64_t value = evaluate(*size.expression, inputs);
  if (static_cast<std::uint64_t>(value) - 1 >= size.limit) return 0;
  if (size.grid_axis >= 0)
    size.last.keep(static_cast<std::uint32_t>(grid[size.grid_axis]),
                   static_cast<std::uint32_t>(value));
  return static_cast<std::uint32_t>(value);
}

// `launch` has the user's grid.
bool compute_sizes(const FunctionState& function, const LaunchConfig& config,
                   const ArgumentValues& values, PreparedLaunch& launch) {
  const std::uint32_t grid[3] = {launch.grid[0], launch.grid[1], launch.grid[2]};
  for (const ComputedSize& size : function.shaped->computed) {
    std::optional<std::uint32_t> value;
    if (size.grid_axis >= 0) value = size.last.of(grid[size.grid_axis]);
    if (!value) value = evaluate_size(function, config, values, size);
    if (*value == 0) return false;
    (launch.*size.sizes)[size.axis] = *value;
  }
  return std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2] <=
         function.shaped->step->limits.threads;
}

// False when the grid is empty, the user has clusters or a size is out of range: the plan knows
// what to do then.
bool launch_shaped(const FunctionState& function, const LaunchConfig& config,
                   ArgumentValues& values, PreparedLaunch& launch) {
  const ShapedStep& shaped = *function.shaped;
  const LaunchLimits& limits = shaped.step->limits;
  const std::int64_t grid[3] = {config.grid.x, config.grid.y, config.grid.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (static_cast<std::uint64_t>(grid[axis]) - 1 >= limits.grid[axis]) return false;
    launch.grid[axis] = static_cast<std::uint32_t>(grid[axis]);
    launch.block[axis] = shaped.launch.block[axis];
  }
  if (config.cluster.x != 1 || config.cluster.y != 1 || config.cluster.z != 1) return false;
  launch.shared_bytes = shaped.launch.shared_bytes;
  std::int32_t grid_sizes[3];
  for (std::size_t i = 0; i < shaped.grid_size_axes.size(); ++i) {
    grid_sizes[i] = static_cast<std::int32_t>(grid[shaped.grid_size_axes[i]]);
    values.addresses[function.kernel->parameters.size() + i] = &grid_sizes[i];
  }
  if (!shaped.computed.empty() && !compute_sizes(function, config, values, launch)) return false;
  send(function, *shaped.step, launch);
  return true;
}

template <class Item>
void launch_function(const FunctionState& function, const LaunchConfig& config,
                     std::span<const Item> arguments) {
  PreparedLaunch launch;
  launch.stream = stream_of(function, config.stream);
  launch.cooperative = config.cooperative;
  ArgumentValues values;
  take_arguments(function, arguments, launch.stream, values);
  launch.parameters = values.addresses;
  if (function.shaped && launch_shaped(function, config, values, launch)) return;
  if (function.direct) run_step(function, *function.direct, user_sizes(config), launch);
  else launch_plan(function, user_sizes(config), values, launch);
}

}  // namespace

void launch_direct(const FunctionState& function, const LaunchSizes& sizes,
                   PreparedLaunch& launch) {
  TW_CHECK(function.direct != nullptr, "kernel '{}' has a plan", function.kernel->name);
  run_step(function, *function.direct, sizes, launch);
}

void Function::launch(const LaunchConfig& config, std::span<const Argument> arguments) const {
  launch_function(checked_state(state_), config, arguments);
}

void Function::launch(const LaunchConfig& config,
                      std::span<const Argument* const> arguments) const {
  launch_function(checked_state(state_), config, arguments);
}

const std::string& Function::name() const { return checked_state(state_).kernel->name; }

Device Function::device() const { return checked_state(state_).device; }

std::span<const Parameter> Function::parameters() const {
  return checked_state(state_).kernel->parameters;
}

FunctionAttributes Function::attributes() const {
  return main_kernel(checked_state(state_)).attributes();
}

int Function::blocks_per_processor(int threads, std::size_t shared_bytes) const {
  const FunctionState& function = checked_state(state_);
  if (threads < 1)
    throw ArgumentError(fmt::format("blocks of {} threads do not exist; give 1 or more", threads));
  return main_kernel(function).blocks_per_processor(threads, shared_bytes);
}

void Function::set_carveout(int percent) const {
  const FunctionState& function = checked_state(state_);
  if (percent < -1 || percent > 100)
    throw ArgumentError(fmt::format(
        "a carve-out of {} percent does not exist; give 0 to 100, or -1 for the driver's choice",
        percent));
  for (const VariantState& variant : function.variants)
    for (const StepState& step : variant.steps) step.kernel->set_carveout(percent);
}

}  // namespace tilewright
