// SPDX-License-Identifier: Apache-2.0
// compiler/emulate_launch.cpp — a launch of emulated CUDA: it is told where its tensors end.
#include "compiler/triton/triton_state.h"
#include "runtime/cpu/launch_memory.h"

namespace tilewright {
namespace {

// Empty when an argument is a bare address, whose bounds nobody knows.
std::vector<TwMemory> memory_of(const LaunchView& view) {
  std::vector<TwMemory> memory;
  for (const ArgumentSource& source : view.specialization->sources) {
    const Argument& value = view.value(source);
    if (value.kind == Argument::Kind::Pointer && value.bits != 0) return {};
    if (value.kind != Argument::Kind::Memory || value.buffer == nullptr) continue;
    memory.push_back({.name = view.kernel.parameters[source.parameter].name.c_str(),
                      .address = reinterpret_cast<std::uintptr_t>(value.buffer->data()),
                      .bytes = value.buffer->size()});
  }
  return memory;
}

}  // namespace

void emulate_launch(const LaunchView& view, const TritonLaunch& launch, Dim3 grid) {
  const std::vector<TwMemory> memory = memory_of(view);
  const LaunchMemoryScope scope(memory);
  run_compiled(view, launch, grid);
}

}  // namespace tilewright
