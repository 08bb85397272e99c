// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/launch_memory.h — tells the next launches of this thread which memory their arguments
// point to, so that emulated CUDA can be stopped where it leaves it.
#pragma once

#include <span>

#include "base/cpu_entry.h"

namespace tilewright {

class LaunchMemoryScope {
 public:
  explicit LaunchMemoryScope(std::span<const TwMemory> memory);
  ~LaunchMemoryScope();
  LaunchMemoryScope(const LaunchMemoryScope&) = delete;
  LaunchMemoryScope& operator=(const LaunchMemoryScope&) = delete;

 private:
  std::span<const TwMemory> previous_;
};

// Of this thread's scope; empty: not known.
std::span<const TwMemory> launch_memory();

}  // namespace tilewright
