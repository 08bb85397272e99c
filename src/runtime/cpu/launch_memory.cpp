// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/launch_memory.cpp — one list per thread.
#include "runtime/cpu/launch_memory.h"

#include <utility>

namespace tilewright {
namespace {

thread_local std::span<const TwMemory> memory_of_this_thread;

}  // namespace

LaunchMemoryScope::LaunchMemoryScope(std::span<const TwMemory> memory)
    : previous_(std::exchange(memory_of_this_thread, memory)) {}

LaunchMemoryScope::~LaunchMemoryScope() { memory_of_this_thread = previous_; }

std::span<const TwMemory> launch_memory() { return memory_of_this_thread; }

}  // namespace tilewright
