// SPDX-License-Identifier: Apache-2.0
// compiler/numba/specialize.cpp — a kernel compiled for the types of a launch's arguments.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/numba/numba_state.h"
#include "load_inline/compile_errors.h"
#include "runtime/function_state.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using NumbaTypes = std::vector<numba::Type>;

// ---- Types of arguments.

numba::Type type_of_argument(const NumbaKernel::State& state, std::size_t i,
                             const NumbaArgument& argument) {
  const DType dtype = argument.value.dtype;
  if (argument.value.kind != Argument::Kind::Scalar && argument.tensor == nullptr)
    throw ArgumentError(
        fmt::format("{} is an address; pass a tensor or a number", place_in(state, i)));
  if (!numba::is_supported(dtype))
    throw ArgumentError(
        fmt::format("{} is {}, which @cuda.jit kernels do not take here; convert it to float32",
                    place_in(state, i), name_of(dtype)));
  if (argument.tensor == nullptr) return numba::Type::scalar(dtype);
  return numba::Type::array(dtype, argument.tensor->rank(), argument.tensor->is_contiguous());
}

// The decorator's signature converts numbers, and arrays must be as it says.
numba::Type agreed(const NumbaKernel::State& state, std::size_t i, const numba::Type& given) {
  if (!state.signature) return given;
  const numba::Type& wanted = (*state.signature)[i];
  if (given.is_scalar() && wanted.is_scalar()) return wanted;
  const bool fits = given.is_array() && wanted.is_array() && given.dtype == wanted.dtype &&
                    given.ndim == wanted.ndim && (given.is_contiguous || !wanted.is_contiguous);
  if (!fits)
    throw ArgumentError(fmt::format("{} is {}, and its decorator says {}", place_in(state, i),
                                    text_of(given), text_of(wanted)));
  return given;
}

// ---- Compiling.

Function load_text(const NumbaKernel::State& state, const NumbaSource& made, Device device) {
  try {
    return Module::load(made.source, device).function(made.source.kernels.front().name);
  } catch (const CompileError& error) {
    throw explained(error, state.module->file);
  }
}

std::unique_ptr<NumbaSpecialization> compiled(NumbaKernel::State& state, const NumbaLaunch& launch,
                                              std::span<const NumbaArgument> arguments,
                                              Device device) {
  auto made = std::make_unique<NumbaSpecialization>();
  NumbaTypes types;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const numba::Type given = type_of_argument(state, i, arguments[i]);
    types.push_back(agreed(state, i, given));
  }
  std::optional<NumbaSource> source;
  made->place = device.is_cuda() ? NumbaPlace::Gpu : NumbaPlace::Loop;
  NumbaPromises promises;
  if (device.is_cuda() || launch.emulate) promises = promises_of(state, launch, arguments);
  if (device.is_cuda() || !launch.emulate)
    source = numba_source(state, types, made->place, promises);
  if (!source) {
    made->place = NumbaPlace::Emulated;
    source = numba_source(state, types, made->place, promises);
  }
  if (source->text.slots.size() > most_numba_slots)
    throw ArgumentError(fmt::format("kernel '{}' needs {} parameters; {} is the most", state.name,
                                    source->text.slots.size(), most_numba_slots));
  made->is_cooperative = source->text.is_cooperative;
  for (const numba::Slot& slot : source->text.slots)
    made->passed.push_back({slot.kind, slot.is_narrow ? DType::Int32 : slot.dtype,
                            static_cast<std::uint8_t>(slot.argument),
                            static_cast<std::uint8_t>(slot.dimension)});
  made->function = load_text(state, *source, device);
  if (made->place == NumbaPlace::Emulated) return made;
  auto loaded = load_function_state(source->source, device, source->source.kernels.front().name);
  if (loaded->direct != nullptr) made->direct = std::move(loaded);
  return made;
}

}  // namespace

std::string place_in(const NumbaKernel::State& state, std::size_t argument) {
  return fmt::format("argument {} '{}' of kernel '{}'", argument + 1, state.parameters[argument],
                     state.name);
}

const NumbaSpecialization& specialize(NumbaKernel::State& state, const NumbaLaunch& launch,
                                      std::span<const NumbaArgument> arguments,
                                      std::span<const std::uint32_t> key) {
  const std::lock_guard lock(state.mutex);
  const auto find = [&]() -> const NumbaSpecialization* {
    for (const auto* each = state.first.load(); each != nullptr; each = each->next)
      if (std::equal(key.begin(), key.end(), each->key.begin(), each->key.end())) return each;
    return nullptr;
  };
  if (const NumbaSpecialization* known = find()) return *known;
  auto made = compiled(state, launch, arguments, device_of_launch(launch, arguments));
  made->key.assign(key.begin(), key.end());
  made->next = state.first.load();
  state.made.push_back(std::move(made));
  state.first.store(state.made.back().get(), std::memory_order_release);
  return *state.made.back();
}

}  // namespace tilewright
