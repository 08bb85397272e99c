// SPDX-License-Identifier: Apache-2.0
// compiler/numba/load_numba.cpp — kernels of thread-level Python: loading, types of arguments,
// launching.
#include <bit>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/settings.h"
#include "compiler/numba/numba_state.h"
#include "frontend/numba/program.h"
#include "load_inline/compile_errors.h"
#include "runtime/cpu/launch_memory.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using numba::Slot;
using NumbaTypes = std::vector<numba::Type>;

constexpr std::size_t most_arguments = 64;
constexpr std::size_t most_slots = 256;
constexpr std::int64_t most_threads = 1024;

NumbaKernel::State& checked(const std::shared_ptr<NumbaKernel::State>& state) {
  if (!state) throw ArgumentError("an empty NumbaKernel was used; take one from load_numba first");
  return *state;
}

// ---- Types of arguments.

std::uint32_t word_of(const NumbaArgument& argument) {
  const auto dtype = static_cast<std::uint32_t>(argument.value.dtype);
  if (argument.tensor == nullptr) return dtype;
  return 0x100u | dtype | static_cast<std::uint32_t>(argument.tensor->rank()) << 9 |
         static_cast<std::uint32_t>(argument.value.is_contiguous) << 17;
}

std::string place_in(const NumbaKernel::State& state, std::size_t i) {
  return fmt::format("argument {} '{}' of kernel '{}'", i + 1, state.parameters[i], state.name);
}

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

void check_count(const NumbaKernel::State& state, std::size_t given) {
  if (given == state.parameters.size()) return;
  throw ArgumentError(fmt::format(
      "kernel '{}' takes {} argument{} ({}) and is given {}", state.name, state.parameters.size(),
      state.parameters.size() == 1 ? "" : "s", fmt::join(state.parameters, ", "), given));
}

void check_shape(const NumbaKernel::State& state, const NumbaLaunch& launch) {
  const auto check = [&](const Dim3& sizes, const char* what) {
    if (sizes.x < 1 || sizes.y < 1 || sizes.z < 1)
      throw ArgumentError(
          fmt::format("the {} of kernel '{}' is {} x {} x {}; every size must be 1 "
                      "or more",
                      what, state.name, sizes.x, sizes.y, sizes.z));
  };
  check(launch.grid, "grid");
  check(launch.block, "block");
  if (launch.block.x > most_threads || launch.block.y > most_threads || launch.block.z > 64 ||
      launch.block.count() > most_threads)
    throw ArgumentError(fmt::format(
        "a block of kernel '{}' has {} x {} x {} threads; {} are the most, and 64 along "
        "z; make the grid larger instead",
        state.name, launch.block.x, launch.block.y, launch.block.z, most_threads));
}

// ---- Compiling.

Device device_of_launch(const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) {
  for (const NumbaArgument& argument : arguments)
    if (argument.tensor != nullptr && argument.value.is_defined) return argument.value.device;
  return launch.stream ? launch.stream->device() : default_device();
}

// The last words of a key: where the code runs.
std::uint32_t place_word(const NumbaLaunch& launch, Device device) {
  if (device.is_cuda()) return 0x80000000u | static_cast<std::uint32_t>(device.index);
  return 0x40000000u | (launch.emulate ? 1u : 0u) | (settings().emulate_check ? 2u : 0u);
}

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
    made->converts.push_back(types.back().dtype);
  }
  std::optional<NumbaSource> source;
  made->place = device.is_cuda() ? NumbaPlace::Gpu : NumbaPlace::Loop;
  if (device.is_cuda() || !launch.emulate) source = numba_source(state, types, made->place);
  if (!source) {
    made->place = NumbaPlace::Emulated;
    source = numba_source(state, types, made->place);
  }
  if (source->text.slots.size() > most_slots)
    throw ArgumentError(fmt::format("kernel '{}' needs {} parameters; {} is the most", state.name,
                                    source->text.slots.size(), most_slots));
  made->slots = source->text.slots;
  made->function = load_text(state, *source, device);
  return made;
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

// ---- Launching.

Argument converted_number(const Argument& number, DType dtype) {
  if (number.dtype == dtype) return number;
  double real = 0;
  std::int64_t integer = 0;
  if (number.dtype == DType::Float64) real = std::bit_cast<double>(number.bits);
  else if (number.dtype == DType::Float32)
    real = std::bit_cast<float>(static_cast<std::uint32_t>(number.bits));
  if (is_floating(number.dtype)) {
    integer = static_cast<std::int64_t>(real);
  } else {
    const std::size_t unused = 64 - 8 * size_of(number.dtype);
    integer = static_cast<std::int64_t>(number.bits << unused);
    if (is_signed(number.dtype)) integer >>= unused;
    else integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(integer) >> unused);
    real = static_cast<double>(integer);
  }
  if (dtype == DType::Float64) return Argument(real);
  if (dtype == DType::Float32) return Argument(static_cast<float>(real));
  Argument result;
  result.dtype = dtype;
  const std::size_t unused = 64 - 8 * size_of(dtype);
  result.bits = static_cast<std::uint64_t>(integer) << unused >> unused;
  if (dtype == DType::Bool) result.bits = real != 0;
  return result;
}

Argument slot_value(const NumbaSpecialization& code, const Slot& slot,
                    std::span<const NumbaArgument> arguments) {
  const NumbaArgument& argument = arguments[static_cast<std::size_t>(slot.argument)];
  switch (slot.kind) {
    case Slot::Kind::Data:
      return argument.value;
    case Slot::Kind::Shape:
      return argument.tensor->shape()[static_cast<std::size_t>(slot.dimension)];
    case Slot::Kind::Stride:
      return argument.tensor->strides()[static_cast<std::size_t>(slot.dimension)];
    case Slot::Kind::Scalar:
      break;
  }
  return converted_number(argument.value, code.converts[static_cast<std::size_t>(slot.argument)]);
}

// Emulated code may touch the memory of the arguments and no other.
void launch_emulated(const NumbaSpecialization& code, const LaunchConfig& config,
                     std::span<const Argument> values, const NumbaKernel::State& state) {
  std::vector<TwMemory> memory;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind != Argument::Kind::Memory || values[i].buffer == nullptr) continue;
    const auto argument = static_cast<std::size_t>(code.slots[i].argument);
    memory.push_back({.name = state.parameters[argument].c_str(),
                      .address = reinterpret_cast<std::uintptr_t>(values[i].buffer->data()),
                      .bytes = values[i].buffer->size()});
  }
  const LaunchMemoryScope scope(memory);
  code.function.launch(config, values);
}

// With room for `capacity` parameters: all of it is made anew for every launch.
template <std::size_t capacity>
void run_within(const NumbaKernel::State& state, const NumbaSpecialization& code,
                const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) {
  std::array<Argument, capacity> values;
  for (std::size_t i = 0; i < code.slots.size(); ++i)
    values[i] = slot_value(code, code.slots[i], arguments);
  const std::span<const Argument> passed(values.data(), code.slots.size());
  const LaunchConfig config{.grid = launch.grid,
                            .block = launch.block,
                            .shared_bytes = launch.shared_bytes,
                            .stream = launch.stream};
  if (code.place == NumbaPlace::Emulated && settings().emulate_check)
    return launch_emulated(code, config, passed, state);
  code.function.launch(config, passed);
}

void run(const NumbaKernel::State& state, const NumbaSpecialization& code,
         const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) {
  if (code.slots.size() <= 8) return run_within<8>(state, code, launch, arguments);
  if (code.slots.size() <= 32) return run_within<32>(state, code, launch, arguments);
  run_within<most_slots>(state, code, launch, arguments);
}

}  // namespace

void NumbaKernel::launch(const NumbaLaunch& launch,
                         std::span<const NumbaArgument> arguments) const {
  State& state = checked(state_);
  check_count(state, arguments.size());
  check_shape(state, launch);
  std::array<std::uint32_t, most_arguments + 1> key;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tensor != nullptr && !arguments[i].tensor->is_defined())
      throw ArgumentError(fmt::format("{} is an undefined tensor", place_in(state, i)));
    key[i] = word_of(arguments[i]);
  }
  key[arguments.size()] = place_word(launch, device_of_launch(launch, arguments));
  const std::span<const std::uint32_t> words(key.data(), arguments.size() + 1);
  for (const auto* each = state.first.load(std::memory_order_acquire); each != nullptr;
       each = each->next)
    if (std::equal(words.begin(), words.end(), each->key.begin(), each->key.end()))
      return run(state, *each, launch, arguments);
  run(state, specialize(state, launch, arguments, words), launch, arguments);
}

const std::string& NumbaKernel::name() const { return checked(state_).name; }

std::vector<std::string> NumbaKernel::parameters() const { return checked(state_).parameters; }

std::size_t NumbaKernel::specializations() const {
  State& state = checked(state_);
  const std::lock_guard lock(state.mutex);
  return state.made.size();
}

// ---- Loading.

std::vector<std::string> numba_kernels(python::ModuleLoader& loader,
                                       const python::LoadedModule& module) {
  std::vector<std::string> names;
  for (const python::Node* node : module.tree->root->body) {
    const auto* function = python::cast_if<python::FunctionDef>(node);
    if (function == nullptr) continue;
    const numba::JitKind kind = numba::jit_kind(loader, module, *function);
    if (kind.is_cuda && !kind.is_device) names.emplace_back(function->name);
  }
  return names;
}

bool is_numba_kernel(const std::string& file, const std::string& kernel) {
  // Most files are none; one that cannot be read is for the caller to complain about.
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (text.find("numba") == std::string::npos) return false;
  python::ModuleLoader loader;
  const python::LoadedModule& module = loader.load(file);
  for (const python::Node* node : module.tree->root->body) {
    const auto* function = python::cast_if<python::FunctionDef>(node);
    if (function == nullptr || (!kernel.empty() && function->name != kernel)) continue;
    if (numba::jit_kind(loader, module, *function).is_cuda) return true;
  }
  return false;
}

namespace {

NumbaKernel made_kernel(std::shared_ptr<NumbaKernel::State> state, std::string_view kernel) {
  const python::Binding found = state->loader.lookup(*state->module, kernel);
  const std::string& file = state->module->file;
  if (found.kind != python::Binding::Kind::Function)
    throw ArgumentError(fmt::format(
        "{} has no kernel '{}'{}", file, kernel,
        suggest_names(std::string(kernel), numba_kernels(state->loader, *state->module))));
  state->module = found.module;
  state->function = &python::cast<python::FunctionDef>(found.node);
  const numba::JitKind kind = numba::jit_kind(state->loader, *state->module, *state->function);
  if (!kind.is_cuda)
    throw ArgumentError(fmt::format("'{}' of {} is not decorated with @cuda.jit", kernel, file));
  if (kind.is_device)
    throw ArgumentError(fmt::format(
        "'{}' of {} is a device function; it is called by kernels and not launched", kernel, file));
  state->name = kernel;
  for (const python::Node* node : state->function->parameters)
    state->parameters.emplace_back(python::cast<python::Parameter>(node).name);
  if (state->parameters.size() > most_arguments)
    throw ArgumentError(fmt::format("kernel '{}' has {} parameters; {} is the most", kernel,
                                    state->parameters.size(), most_arguments));
  state->signature = decorator_signature(state->loader, *state->module, *state->function);
  if (state->signature && state->signature->size() != state->parameters.size())
    throw ArgumentError(fmt::format("the decorator of kernel '{}' has {} types for {} parameters",
                                    kernel, state->signature->size(), state->parameters.size()));
  return NumbaKernel(std::move(state));
}

}  // namespace

NumbaKernel load_numba(const std::string& file, std::string_view kernel) {
  auto state = std::make_shared<NumbaKernel::State>();
  state->module = &state->loader.load(file);
  return made_kernel(std::move(state), kernel);
}

NumbaKernel load_numba_source(std::string_view text, std::string_view kernel) {
  auto state = std::make_shared<NumbaKernel::State>();
  state->module = &state->loader.load_text("<source>", text);
  return made_kernel(std::move(state), kernel);
}

}  // namespace tilewright
