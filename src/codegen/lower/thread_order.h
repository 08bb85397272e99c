// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_order.h — where the threads of a program have to meet because of memory that
// they share with the launch: what a program does to it happens in the order of its source.
#pragma once

#include <set>

#include "ir/kernel.h"
#include "passes/laid/sweeps.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

// Steps, by their order.
struct MemoryMeetings {
  std::set<int> before;  // before which all threads meet
  std::set<int> inside;  // which meet between their loads and their stores
};

MemoryMeetings meetings_in_memory(const ir::Kernel& laid, const Sweeps& sweeps,
                                  const TileLayouts& layouts);

}  // namespace tilewright
