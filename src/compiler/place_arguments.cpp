// SPDX-License-Identifier: Apache-2.0
// compiler/place_arguments.cpp — part of every launch: no lock, no allocation.
#include "compiler/place_arguments.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings.h"

namespace tilewright {
namespace {

// The device of the tensors; without any, that of the stream, else the default.
class DeviceOfTensors {
 public:
  explicit DeviceOfTensors(const TritonKernel::State& state) : state_(state) {}

  void add(std::size_t parameter, const TritonArgument& argument) {
    if (argument.kind == TritonArgument::Kind::Value) return add(parameter, argument.value);
    for (const TritonArgument& item : items_of(argument)) add(parameter, item);
  }
  void add(std::size_t parameter, const Argument& value) {
    if (value.kind != Argument::Kind::Memory || !value.is_defined) return;
    if (first_ == nullptr) {
      first_ = &value;
      parameter_ = parameter;
    } else if (first_->device != value.device) [[unlikely]] {
      throw_different(parameter, value);
    }
  }
  Device device(const TritonLaunch& launch) const {
    if (first_ != nullptr) return first_->device;
    return launch.stream ? launch.stream->device() : default_device();
  }

 private:
  [[noreturn]] void throw_different(std::size_t parameter, const Argument& value) const {
    throw ArgumentError(fmt::format(
        "arguments '{}' and '{}' of kernel '{}' are on {} and {}; move one to the other's device",
        state_.parameters[parameter_].name, state_.parameters[parameter].name, state_.name,
        first_->device.name(), value.device.name()));
  }

  const TritonKernel::State& state_;
  const Argument* first_ = nullptr;
  std::size_t parameter_ = 0;
};

[[noreturn]] void throw_too_many(const TritonKernel::State& state, std::size_t given) {
  throw ArgumentError(fmt::format("kernel '{}' takes {} arguments ({}), but was given {}",
                                  state.name, state.parameters.size(),
                                  fmt::join(names_of(state.parameters), ", "), given));
}

[[noreturn]] void throw_twice(const TritonKernel::State& state, std::size_t parameter) {
  throw ArgumentError(fmt::format("parameter '{}' of kernel '{}' is given twice",
                                  state.parameters[parameter].name, state.name));
}

// Arguments with names mostly follow each other in the order of the parameters: `likely`.
std::size_t index_of(const TritonKernel::State& state, std::string_view name, std::size_t likely) {
  if (likely < state.parameters.size() && state.parameters[likely].name == name) return likely;
  return parameter_index(state.name, state.parameters, name);
}

// Every argument goes to its slot and to the key or comparison. Returns all that differs.
template <class Key>
std::uint64_t place_all(const TritonKernel::State& state, const TritonLaunch& launch,
                        std::span<const TritonArgument> arguments, const TritonArgument** slots,
                        LaunchPlace& place, Key& key) {
  const std::size_t count = state.key_rules.parameters.size();
  DeviceOfTensors tensors(state);
  std::uint64_t difference = 0;
  // What most arguments are: values by position. Nothing is called here.
  std::size_t position = 0;
  const std::size_t most = std::min(count, arguments.size());
  for (; position < most; ++position) {
    const TritonArgument& argument = arguments[position];
    if (!argument.name.empty() || argument.kind != TritonArgument::Kind::Value) break;
    slots[position] = &argument;
    tensors.add(position, argument.value);
    difference |= key.add(position, argument.value);
  }
  std::fill(slots + position, slots + count, nullptr);
  std::size_t last = position - 1;
  for (const TritonArgument& argument : arguments.subspan(position)) {
    last = argument.name.empty() ? position++ : index_of(state, argument.name, last + 1);
    if (last >= count) throw_too_many(state, arguments.size());
    if (slots[last] != nullptr) throw_twice(state, last);
    slots[last] = &argument;
    tensors.add(last, argument);
    difference |= key.add(last, argument);
  }
  const Settings& process = settings();
  place.device = tensors.device(launch);
  place.interpret = launch.interpret || process.interpret;
  const bool debug = launch.debug || process.debug;
  return difference | key.finish({launch, place.device, place.interpret, debug});
}

}  // namespace

void place_arguments(const TritonKernel::State& state, const TritonLaunch& launch,
                     std::span<const TritonArgument> arguments, const TritonArgument** slots,
                     LaunchPlace& place, LaunchKey& key) {
  place_all(state, launch, arguments, slots, place, key);
}

bool place_like(const KnownLaunch& known, const TritonKernel::State& state,
                const TritonLaunch& launch, std::span<const TritonArgument> arguments,
                const TritonArgument** slots, LaunchPlace& place) {
  if (arguments.size() != known.given) return false;
  LaunchComparison comparison(state.key_rules, known.words);
  return place_all(state, launch, arguments, slots, place, comparison) == 0;
}

}  // namespace tilewright
