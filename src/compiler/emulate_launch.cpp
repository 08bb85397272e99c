// SPDX-License-Identifier: Apache-2.0
// compiler/emulate_launch.cpp — a launch of emulated CUDA: it is told where its tensors end.
#include <fmt/format.h>

#include "compiler/run_launch.h"
#include "runtime/cpu/launch_memory.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// Empty when an argument is a bare address, whose bounds nobody knows.
std::vector<TwMemory> memory_of(const ReadyLaunch& launch) {
  std::vector<TwMemory> memory;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& value = *launch.arguments[i];
    if (value.kind == Argument::Kind::Pointer && value.bits != 0) return {};
    if (value.kind != Argument::Kind::Memory || value.buffer == nullptr) continue;
    memory.push_back({.name = launch.specialization.names[i].c_str(),
                      .address = reinterpret_cast<std::uintptr_t>(value.buffer->data()),
                      .bytes = value.buffer->size()});
  }
  return memory;
}

}  // namespace

void run_emulated(const ReadyLaunch& launch) {
  const std::vector<TwMemory> memory = memory_of(launch);
  const LaunchMemoryScope scope(memory);
  run_compiled(launch);
}

void run_launch(const ReadyLaunch& launch, bool float64) {
  if (launch.specialization.tiles) return run_interpreted(launch, float64);
  if (launch.specialization.is_emulated) return run_emulated(launch);
  run_compiled(launch);
}

void check_grid(const std::string& kernel, const Dim3& grid) {
  if (grid.x >= 0 && grid.y >= 0 && grid.z >= 0) return;
  throw ArgumentError(
      fmt::format("the grid of kernel '{}' is {} x {} x {}; no size may be negative", kernel,
                  grid.x, grid.y, grid.z));
}

}  // namespace tilewright
