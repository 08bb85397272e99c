// SPDX-License-Identifier: Apache-2.0
// compiler/numba/launch.cpp — a launch of a @cuda.jit kernel: which code it is, and what is passed.
#include <bit>
#include <cstddef>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings.h"
#include "compiler/numba/numba_state.h"
#include "runtime/arguments.h"
#include "runtime/cpu/launch_memory.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using numba::Slot;

constexpr std::int64_t most_threads = 1024;

NumbaKernel::State& checked(const std::shared_ptr<NumbaKernel::State>& state) {
  if (!state) throw ArgumentError("an empty NumbaKernel was used; take one from load_numba first");
  return *state;
}

[[gnu::noinline, noreturn]] void throw_wrong_count(const NumbaKernel::State& state,
                                                   std::size_t given) {
  throw ArgumentError(fmt::format(
      "kernel '{}' takes {} argument{} ({}) and is given {}", state.name, state.parameters.size(),
      state.parameters.size() == 1 ? "" : "s", fmt::join(state.parameters, ", "), given));
}

[[gnu::always_inline]] inline bool has_usual_shape(const NumbaLaunch& launch) {
  const Dim3 &grid = launch.grid, &block = launch.block;
  const auto is_within = [](std::int64_t size, std::int64_t most) {
    return static_cast<std::uint64_t>(size) - 1 < static_cast<std::uint64_t>(most);
  };
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && is_within(block.x, most_threads) &&
         is_within(block.y, most_threads) && is_within(block.z, 64) &&
         block.count() <= most_threads;
}

[[gnu::noinline, noreturn]] void throw_wrong_shape(const NumbaKernel::State& state,
                                                   const NumbaLaunch& launch) {
  const auto check = [&](const Dim3& sizes, const char* what) {
    if (sizes.x < 1 || sizes.y < 1 || sizes.z < 1)
      throw ArgumentError(
          fmt::format("the {} of kernel '{}' is {} x {} x {}; every size must be 1 or more", what,
                      state.name, sizes.x, sizes.y, sizes.z));
  };
  check(launch.grid, "grid");
  check(launch.block, "block");
  throw ArgumentError(fmt::format(
      "a block of kernel '{}' has {} x {} x {} threads; {} are the most, and 64 along z; make the "
      "grid larger instead",
      state.name, launch.block.x, launch.block.y, launch.block.z, most_threads));
}

// ---- Which code.

// 0 is that of no argument: an undefined tensor. Codes pass arguments of their words unchecked.
[[gnu::always_inline]] inline std::uint32_t word_of(const NumbaArgument& argument) {
  const auto dtype = static_cast<std::uint32_t>(argument.value.dtype) + 1;
  if (argument.tensor == nullptr)
    return dtype | static_cast<std::uint32_t>(argument.value.kind) << 20;
  if (!argument.value.is_defined) [[unlikely]]
    return 0;
  return 0x100u | dtype | static_cast<std::uint32_t>(argument.tensor->shape().size()) << 9 |
         static_cast<std::uint32_t>(argument.value.is_contiguous) << 17;
}

}  // namespace

Device device_of_launch(const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) {
  for (const NumbaArgument& argument : arguments)
    if (argument.tensor != nullptr && argument.value.is_defined) return argument.value.device;
  return launch.stream ? launch.stream->device() : default_device();
}

namespace {

std::uint32_t bits_of(const NumbaPromises& promises) {
  return (promises.is_narrow ? 0x10000u : 0u) | (promises.are_apart ? 0x20000u : 0u);
}

// The last words of a key: where the code runs.
std::uint32_t place_word(const NumbaKernel::State& state, const NumbaLaunch& launch,
                         std::span<const NumbaArgument> arguments) {
  const Device device = device_of_launch(launch, arguments);
  // What is emulated for its findings is the text that a GPU would have.
  const std::uint32_t promises =
      device.is_cuda() || launch.emulate ? bits_of(promises_of(state, launch, arguments)) : 0;
  if (device.is_cuda()) return 0x80000000u | static_cast<std::uint32_t>(device.index) | promises;
  return 0x40000000u | (launch.emulate ? 1u : 0u) | (settings().emulate_check ? 2u : 0u) | promises;
}

[[gnu::always_inline]] inline bool has_types_of(const NumbaSpecialization& code,
                                                std::span<const NumbaArgument> arguments) {
  const std::uint32_t* const key = code.key.data();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (key[i] != word_of(arguments[i])) return false;
  return true;
}

// Is the code that of this launch? Asks for no more than its place depends on: a loop over threads
// is checked by nobody and promised nothing.
[[gnu::always_inline]] inline bool is_for(const NumbaSpecialization& code,
                                          const NumbaKernel::State& state,
                                          const NumbaLaunch& launch,
                                          std::span<const NumbaArgument> arguments) {
  if (!has_types_of(code, arguments)) return false;
  if (code.place == NumbaPlace::Loop)
    return !launch.emulate && device_of_launch(launch, arguments).is_cpu();
  return code.key[arguments.size()] == place_word(state, launch, arguments);
}

[[gnu::noinline]] const NumbaSpecialization& other_code(NumbaKernel::State& state,
                                                        const NumbaLaunch& launch,
                                                        std::span<const NumbaArgument> arguments) {
  for (const auto* each = state.first.load(std::memory_order_acquire); each != nullptr;
       each = each->next)
    if (is_for(*each, state, launch, arguments)) return *each;
  std::vector<std::uint32_t> key;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    key.push_back(word_of(arguments[i]));
    if (key.back() == 0)
      throw ArgumentError(fmt::format("{} is an undefined tensor", place_in(state, i)));
  }
  key.push_back(place_word(state, launch, arguments));
  return specialize(state, launch, arguments, key);
}

// ---- What is passed.

}  // namespace

Argument converted_number(const Argument& number, DType dtype) {
  if (number.dtype == dtype) return number;
  double real = 0;
  std::int64_t integer = 0;
  if (number.dtype == DType::Float64) real = std::bit_cast<double>(number.bits);
  else if (number.dtype == DType::Float32)
    real = std::bit_cast<float>(static_cast<std::uint32_t>(number.bits));
  else if (number.dtype == DType::Float16)
    real = half_to_float(static_cast<std::uint16_t>(number.bits));
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
  if (dtype == DType::Float16) return Argument(Half(real));
  Argument result;
  result.dtype = dtype;
  const std::size_t unused = 64 - 8 * size_of(dtype);
  result.bits = static_cast<std::uint64_t>(integer) << unused >> unused;
  if (dtype == DType::Bool) result.bits = real != 0;
  return result;
}

namespace {

// The bits of a slot's value.
[[gnu::always_inline]] inline std::uint64_t passed_bits(const NumbaPassed& passed,
                                                        const NumbaArgument& argument) {
  if (passed.kind == Slot::Kind::Scalar)
    return argument.value.dtype == passed.dtype
               ? argument.value.bits
               : converted_number(argument.value, passed.dtype).bits;
  const Tensor& tensor = *argument.tensor;
  const Shape& sizes = passed.kind == Slot::Kind::Shape ? tensor.shape() : tensor.strides();
  return static_cast<std::uint64_t>(sizes[passed.dimension]);
}

// What is passed for a slot: the argument as it is, else a number that is made in `room`.
[[gnu::always_inline]] inline const Argument* passed_value(const NumbaPassed& passed,
                                                           const NumbaArgument& argument,
                                                           std::byte*& room) {
  if (passed.kind == Slot::Kind::Data) return &argument.value;
  const Argument* const made = reinterpret_cast<const Argument*>(room);
  if (passed.kind == Slot::Kind::Scalar) {
    if (argument.value.dtype == passed.dtype) return &argument.value;
    new (room) Argument(converted_number(argument.value, passed.dtype));
  } else {
    const auto size = static_cast<std::int64_t>(passed_bits(passed, argument));
    if (passed.dtype == DType::Int32) new (room) Argument(static_cast<std::int32_t>(size));
    else new (room) Argument(size);
  }
  room += sizeof(Argument);
  return made;
}

// Emulated code may touch the memory of the arguments and no other.
void launch_emulated(const NumbaSpecialization& code, const LaunchConfig& config,
                     std::span<const Argument* const> values, const NumbaKernel::State& state) {
  std::vector<TwMemory> memory;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]->kind != Argument::Kind::Memory || values[i]->buffer == nullptr) continue;
    const auto argument = static_cast<std::size_t>(code.passed[i].argument);
    memory.push_back({.name = state.parameters[argument].c_str(),
                      .address = reinterpret_cast<std::uintptr_t>(values[i]->buffer->data()),
                      .bytes = values[i]->buffer->size()});
  }
  const LaunchMemoryScope scope(memory);
  code.function.launch(config, values);
}

// The long way, which checks every argument. Nothing is cleared that no parameter needs.
void run_checked(const NumbaKernel::State& state, const NumbaSpecialization& code,
                 const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) {
  static_assert(std::is_trivially_destructible_v<Argument>);
  alignas(Argument) std::byte made[most_numba_slots * sizeof(Argument)];
  const Argument* values[most_numba_slots];
  std::byte* room = made;
  std::size_t count = 0;
  for (const NumbaPassed& passed : code.passed)
    values[count++] = passed_value(passed, arguments[passed.argument], room);
  const std::span<const Argument* const> all(values, count);
  const LaunchConfig config{.grid = launch.grid,
                            .block = launch.block,
                            .shared_bytes = launch.shared_bytes,
                            .stream = launch.stream,
                            .cooperative = code.is_cooperative && code.place == NumbaPlace::Gpu};
  if (code.is_cooperative && code.place == NumbaPlace::Emulated && launch.grid.count() > 1)
    throw ArgumentError(
        fmt::format("kernel '{}' synchronises its whole grid (cuda.cg.this_grid().sync()), which a "
                    "CPU does for "
                    "a grid of one block only; this one has {}",
                    state.name, launch.grid.count()));
  if (code.place == NumbaPlace::Emulated && settings().emulate_check)
    return launch_emulated(code, config, all, state);
  code.function.launch(config, all);
}

constexpr std::size_t most_direct = 32;

// The key has compared all types: nothing is checked again but where the memory is. False, with
// nothing done, where that is elsewhere.
[[gnu::always_inline]] inline bool run_directly(const NumbaSpecialization& code,
                                                const NumbaLaunch& launch,
                                                std::span<const NumbaArgument> arguments) {
  const FunctionState& function = *code.direct;
  PreparedLaunch prepared;
  prepared.stream = stream_of(function, launch.stream);
  prepared.cooperative = code.is_cooperative && code.place == NumbaPlace::Gpu;
  std::uint64_t bits[most_direct];
  void* addresses[most_direct];
  std::size_t count = 0;
  for (const NumbaPassed& passed : code.passed) {
    const NumbaArgument& argument = arguments[passed.argument];
    if (passed.kind == Slot::Kind::Data) {
      if (argument.value.device != function.device) [[unlikely]]
        return false;
      record_use(argument.value, prepared.stream);
      bits[count] = argument.value.bits;
    } else {
      bits[count] = passed_bits(passed, argument);
    }
    addresses[count] = &bits[count];
    ++count;
  }
  prepared.parameters = addresses;
  const LaunchSizes sizes{.grid = {launch.grid.x, launch.grid.y, launch.grid.z},
                          .block = {launch.block.x, launch.block.y, launch.block.z},
                          .cluster = {1, 1, 1},
                          .shared_bytes = static_cast<std::int64_t>(launch.shared_bytes)};
  launch_direct(function, sizes, prepared);
  return true;
}

void run(const NumbaKernel::State& state, const NumbaSpecialization& code,
         const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) {
  if (code.direct != nullptr && code.passed.size() <= most_direct &&
      run_directly(code, launch, arguments))
    return;
  run_checked(state, code, launch, arguments);
}

}  // namespace

void NumbaKernel::launch(const NumbaLaunch& launch,
                         std::span<const NumbaArgument> arguments) const {
  State& state = checked(state_);
  if (arguments.size() != state.parameters.size()) [[unlikely]]
    throw_wrong_count(state, arguments.size());
  if (!has_usual_shape(launch)) [[unlikely]]
    throw_wrong_shape(state, launch);
  const NumbaSpecialization* code = state.first.load(std::memory_order_acquire);
  if (code == nullptr || !is_for(*code, state, launch, arguments)) [[unlikely]]
    code = &other_code(state, launch, arguments);
  run(state, *code, launch, arguments);
}

const std::string& NumbaKernel::name() const { return checked(state_).name; }

std::vector<std::string> NumbaKernel::parameters() const { return checked(state_).parameters; }

std::size_t NumbaKernel::specializations() const {
  State& state = checked(state_);
  const std::lock_guard lock(state.mutex);
  return state.made.size();
}

}  // namespace tilewright
