// SPDX-License-Identifier: Apache-2.0
// compiler/triton/load_triton.cpp — loading a kernel, and its warm launch.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/nvtx.h"
#include "base/settings.h"
#include "compiler/triton/argument_key.h"
#include "compiler/triton/constants.h"
#include "compiler/triton/place_arguments.h"
#include "compiler/triton/repeated_launch.h"
#include "compiler/triton/triton_state.h"

namespace tilewright {
namespace {

// The parameters that the autotuner's key names. One that cannot be read is an error of the launch,
// not of loading: until then every parameter counts.
bool is_tune_key(const std::optional<std::vector<std::string>>& keys, const std::string& name) {
  return !keys || std::find(keys->begin(), keys->end(), name) != keys->end();
}

void mark_keys(TritonKernel::State& state, python::Evaluator& evaluator) {
  std::optional<std::vector<std::string>> keys = std::vector<std::string>();
  if (const python::Decorator* autotune = state.function.find(python::Decorator::Kind::Autotune)) {
    try {
      keys = read_autotune_key(evaluator, *autotune);
    } catch (const UserError&) {
      keys.reset();
    }
  }
  const bool all = heuristics_read_values(state.function);
  for (TritonParameter& parameter : state.parameters)
    parameter.is_keyed_by_value = all || is_tune_key(keys, parameter.name);
  state.key_rules = key_rules_of(state.parameters);
}

TritonKernel make_kernel(std::shared_ptr<TritonKernel::State> state,
                         const python::LoadedModule& module, std::string_view kernel) {
  python::Evaluator evaluator(state->loader, {.facts = python::nvidia_facts(9, 0)});
  state->name = std::string(kernel);
  if (nvtx_takes_launches())
    state->range =
        fmt::format("{} ({})", kernel, std::filesystem::path(module.file).filename().string());
  state->function = find_kernel(state->loader, module, kernel);
  state->parameters = read_parameters(state->loader, evaluator, state->function);
  mark_keys(*state, evaluator);
  if (state->parameters.size() > max_slots)
    throw ArgumentError(fmt::format("kernel '{}' has {} parameters; {} is the most", kernel,
                                    state->parameters.size(), max_slots));
  return TritonKernel(std::move(state));
}

TritonKernel::State& checked(const std::shared_ptr<TritonKernel::State>& state) {
  if (!state)
    throw ArgumentError("an empty TritonKernel was used; take one from load_triton first");
  return *state;
}

python::Value host_value(const TritonArgument& argument) {
  if (argument.kind == TritonArgument::Kind::Descriptor)
    return host_value(argument.descriptor->items()[0]);
  if (argument.kind == TritonArgument::Kind::Tuple) {
    std::vector<python::Value> items;
    for (const TritonArgument& item : argument.tuple->items()) items.push_back(host_value(item));
    return python::make_tuple(std::move(items));
  }
  if (argument.kind == TritonArgument::Kind::Value && argument.value.kind != Argument::Kind::Scalar)
    return python::TensorValue{.dtype = fmt::format("torch.{}", name_of(argument.value.dtype)),
                               .shape = {},
                               .strides = {},
                               .has_shape = false};
  const TritonParameter constant{.is_constexpr = true};
  return host_value_of(parameter_type(specialize("", constant, argument)).constant);
}

// As the launch gives it, configs and heuristics set it, or its default.
std::optional<python::Value> value_of(const LaunchView& view, std::size_t i) {
  const TritonParameter& parameter = view.kernel.parameters[i];
  if (view.slots[i] != nullptr) return host_value(*view.slots[i]);
  const auto found = view.specialization->signature.find(parameter.name);
  if (found == view.specialization->signature.end()) return parameter.default_value;
  return host_value_of(found->second.constant);
}

}  // namespace

std::int64_t Meta::operator[](std::string_view name) const {
  const std::size_t i = parameter_index(view_->kernel.name, view_->kernel.parameters, name);
  const python::Value value = value_of(*view_, i).value_or(python::Value());
  if (const std::optional<std::int64_t> integer = value.integer()) return *integer;
  throw ArgumentError(
      fmt::format("the grid of kernel '{}' asks for '{}', which is {} and no integer",
                  view_->kernel.name, name, python::repr(value)));
}

python::DictValue meta_values(const LaunchView& view) {
  python::DictValue values;
  for (std::size_t i = 0; i < view.kernel.parameters.size(); ++i) {
    const std::optional<python::Value> value = value_of(view, i);
    if (value) values.set(view.kernel.parameters[i].name, *value);
  }
  return values;
}

Dim3 grid_of(const LaunchView& view, const TritonLaunch& launch) {
  const Dim3 grid = launch.grid.sizes(Meta(view));
  check_grid(view.kernel.name, grid);
  return grid;
}

namespace {

// The compiled kernel's arguments from those of the launch.
class PassedArguments {
 public:
  explicit PassedArguments(const LaunchView& view) {
    const std::vector<ArgumentSource>& sources = view.specialization->sources;
    TW_CHECK(sources.size() <= max_slots, "kernel '{}' has {} arguments", view.kernel.name,
             sources.size());
    for (const ArgumentSource& source : sources) arguments_[count_++] = &view.value(source);
  }
  std::span<const Argument* const> all() const { return {arguments_, count_}; }

 private:
  std::size_t count_ = 0;
  const Argument* arguments_[max_slots];
};

}  // namespace

void run_compiled(const LaunchView& view, const TritonLaunch& launch, Dim3 grid) {
  run_compiled(
      {view.kernel.name, *view.specialization, PassedArguments(view).all(), grid, launch.stream});
}

TritonKernel::Bound TritonKernel::operator[](std::initializer_list<std::int64_t> grid) const {
  if (grid.size() < 1 || grid.size() > 3)
    throw ArgumentError(fmt::format("a grid has one to three sizes, not {}", grid.size()));
  Dim3 sizes(grid.begin()[0], grid.size() > 1 ? grid.begin()[1] : 1,
             grid.size() > 2 ? grid.begin()[2] : 1);
  return Bound(*this, sizes);
}

namespace {

// `passed` has the compiled kernel's arguments where they are whole ones of the launch, or is null.
void run(const LaunchView& view, const TritonLaunch& launch, const Argument* const* passed) {
  const Specialization& specialization = *view.specialization;
  const Dim3 grid = grid_of(view, launch);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const auto run_with = [&](std::span<const Argument* const> arguments) {
    run_launch({view.kernel.name, specialization, arguments, grid, launch.stream}, launch.float64);
  };
  if (passed == nullptr || specialization.takes_items) return run_with(PassedArguments(view).all());
  run_with({passed, specialization.sources.size()});
}

}  // namespace

const TritonSpecialization& find_specialization(TritonKernel::State& state,
                                                const TritonLaunch& launch,
                                                std::span<const TritonArgument> arguments,
                                                const TritonArgument** slots, LaunchPlace& place) {
  LaunchKey key(state.key_rules);
  place_arguments(state, launch, arguments, slots, place, key);
  if (const Specialization* found = state.table.find(key)) return as_triton(*found);
  return make_specialization(state, key, slots, launch, place);
}

void TritonKernel::launch(const TritonLaunch& launch,
                          std::span<const TritonArgument> arguments) const {
  State& state = checked(state_);
  const NvtxScope range(state.range);
  const TritonArgument* slots[max_slots];
  const Argument* passed[max_slots + 1];
  for (std::size_t i = 0; i < SpecializationTable::recent_count; ++i) {
    const KnownLaunch* const known = state.table.recent(i);
    if (known == nullptr) break;
    if (repeats(*known, state, launch, arguments, slots, passed)) [[likely]]
      return run({state, slots, &as_triton(*known->value)}, launch, passed);
  }
  LaunchPlace place;
  const TritonSpecialization& found = find_specialization(state, launch, arguments, slots, place);
  run({state, slots, &found}, launch, nullptr);
}

void TritonKernel::precompile(std::string_view signature, const TritonLaunch& options) const {
  State& state = checked(state_);
  const LaunchPlace place{device_without_tensors(options),
                          options.interpret || settings().interpret, options.emulate};
  static_cast<void>(make_specialization(state, signature, options, place));
}

const std::string& TritonKernel::name() const { return checked(state_).name; }

std::vector<std::string> TritonKernel::parameters() const {
  return names_of(checked(state_).parameters);
}

std::size_t TritonKernel::specializations() const {
  const State& state = checked(state_);
  const std::lock_guard lock(state.mutex);
  return state.compiled.size();
}

TritonKernel load_triton(const std::string& file, std::string_view kernel) {
  auto state = std::make_shared<TritonKernel::State>();
  const python::LoadedModule& module = state->loader.load(file);
  return make_kernel(std::move(state), module, kernel);
}

TritonKernel load_triton_source(std::string_view text, std::string_view kernel) {
  auto state = std::make_shared<TritonKernel::State>();
  const python::LoadedModule& module = state->loader.load_text("<source>", text);
  return make_kernel(std::move(state), module, kernel);
}

}  // namespace tilewright
