// SPDX-License-Identifier: Apache-2.0
// compiler/memory_use.h — which arguments' memory a kernel reads and writes.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// By argument of the kernel; false for those that are no pointers. An access through a pointer of
// unknown origin counts for every argument.
struct MemoryUse {
  std::vector<bool> reads, writes;
};
MemoryUse memory_use(const ir::Kernel& kernel);

// Whether the kernel writes memory that two of its arguments reach.
bool writes_overlap(const ir::Kernel& kernel);

}  // namespace tilewright
