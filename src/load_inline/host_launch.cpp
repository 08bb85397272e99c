// SPDX-License-Identifier: Apache-2.0
// load_inline/host_launch.cpp — launches by name on a GPU, by address when emulated.
#include "load_inline/host_launch.h"

#include <algorithm>

#include "base/check.h"
#include "base/cpu_entry.h"
#include "base/events.h"
#include "runtime/cpu/launch_memory.h"
#include "runtime/cpu/noted_blocks.h"
#include "runtime/cpu/services.h"
#include "runtime/cpu/thread_pool.h"

namespace tilewright {
namespace {

// The limits of CUDA, so that a launch that no GPU takes is not taken here either.
void check_limits(const TwLaunch& launch) {
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const bool fits = threads > 0 && threads <= 1024 && launch.block[2] <= 64;
  if (!fits)
    throw ArgumentError(
        fmt::format("kernel '{}' cannot be launched with a block of {} x {} x {} threads; 1 to "
                    "1024 are possible",
                    launch.kernel, launch.block[0], launch.block[1], launch.block[2]));
  if (launch.grid[0] > 2147483647u || launch.grid[1] > 65535 || launch.grid[2] > 65535)
    throw ArgumentError(fmt::format(
        "kernel '{}' cannot be launched with a grid of {} x {} x {} blocks; at most 2147483647 x "
        "65535 x 65535 are possible",
        launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2]));
  constexpr unsigned long most_shared = 232448;
  if (launch.shared_bytes > most_shared)
    throw ArgumentError(fmt::format(
        "kernel '{}' asks for {} bytes of dynamic shared memory; at most {} are possible",
        launch.kernel, launch.shared_bytes, most_shared));
}

void launch_on_gpu(const TwLaunch& launch, const HostContext& context) {
  std::vector<Argument> arguments(static_cast<std::size_t>(launch.parameter_count));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i].kind = Argument::Kind::Opaque;
    arguments[i].bytes = static_cast<std::uint32_t>(launch.parameter_bytes[i]);
    arguments[i].bits = reinterpret_cast<std::uintptr_t>(launch.parameters[i]);
  }
  LaunchConfig config;
  config.grid = Dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
  config.block = Dim3(launch.block[0], launch.block[1], launch.block[2]);
  config.shared_bytes = launch.shared_bytes;
  if (launch.stream) config.stream = Stream::wrap(launch.stream, context.device);
  context.gpu_kernel(launch.kernel).launch(config, arguments);
}

// The caller's tensors by their names, and those that the function has made.
std::vector<TwMemory> memory_of_call() {
  const std::span<const TwMemory> named = launch_memory();
  std::vector<TwMemory> memory(named.begin(), named.end());
  if (!notes_blocks()) return memory;
  for (const TwMemory& block : noted_blocks())
    if (std::none_of(named.begin(), named.end(),
                     [&](const TwMemory& other) { return other.address == block.address; }))
      memory.push_back(block);
  return memory;
}

}  // namespace

void launch_emulated(const TwLaunch& launch, std::span<const TwMemory> memory) {
  check_limits(launch);
  const TwCpuLaunch description = {.grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                                   .block = {launch.block[0], launch.block[1], launch.block[2]},
                                   .shared_bytes = launch.shared_bytes,
                                   .services = &cpu_services(),
                                   .memory = memory.data(),
                                   .memory_count = memory.size()};
  const auto entry = reinterpret_cast<TwCpuEntry>(launch.entry);
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  ProgramCost unknown = 0;
  EventScope event(EventKind::Launch, launch.kernel);
  if (event.is_heard())
    event.describe(fmt::format("grid {} {} {}", launch.grid[0], launch.grid[1], launch.grid[2]));
  try {
    run_programs(blocks, unknown, [&](std::uint64_t first, std::uint64_t last) {
      entry(&description, launch.parameters, first, last);
    });
  } catch (const ProgramFailure& failure) {
    throw KernelFault(fmt::format("kernel '{}' failed: {}", launch.kernel, failure.message));
  }
}

void launch_from_host(const TwLaunch& launch, const HostContext& context) {
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return;
  if (launch.entry) launch_emulated(launch, memory_of_call());
  else launch_on_gpu(launch, context);
}

}  // namespace tilewright
