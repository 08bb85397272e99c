// SPDX-License-Identifier: Apache-2.0
// compiler/triton/place_arguments.cpp — by position and by name, with everything that may be wrong.
#include "compiler/triton/place_arguments.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings.h"
#include "compiler/triton/argument_key.h"

namespace tilewright {
namespace {

// The device of the tensors.
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
    return first_ != nullptr ? first_->device : device_without_tensors(launch);
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

}  // namespace

Device device_without_tensors(const TritonLaunch& launch) {
  return launch.stream ? launch.stream->device() : default_device();
}

std::size_t index_of(const TritonKernel::State& state, std::string_view name, std::size_t likely) {
  if (likely < state.parameters.size() && state.parameters[likely].name == name) return likely;
  return parameter_index(state.name, state.parameters, name);
}

void place_arguments(const TritonKernel::State& state, const TritonLaunch& launch,
                     std::span<const TritonArgument> arguments, const TritonArgument** slots,
                     LaunchPlace& place, LaunchKey& key) {
  const std::size_t count = state.parameters.size();
  std::fill_n(slots, count, nullptr);
  DeviceOfTensors tensors(state);
  std::size_t position = 0, last = 0;
  for (const TritonArgument& argument : arguments) {
    last = argument.name.empty() ? position++ : index_of(state, argument.name, last + 1);
    if (last >= count) throw_too_many(state, arguments.size());
    if (slots[last] != nullptr) throw_twice(state, last);
    slots[last] = &argument;
    tensors.add(last, argument);
    add_argument(key, state.key_rules, last, argument);
  }
  const Settings& process = settings();
  place.device = tensors.device(launch);
  place.interpret = launch.interpret || process.interpret;
  place.emulate = launch.emulate;
  check_emulated(state.name, place);
  Overlaps overlaps;
  add_pointers(overlaps, {slots, count});
  key.finish(option_words_of(
      launch, {place.device, place.interpret, launch.debug || process.debug, overlaps.word()}));
}

}  // namespace tilewright
