// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_order.h — whether the threads of a program have to meet because of memory.
#pragma once

#include "ir/kernel.h"
#include "passes/laid/sweeps.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

// Whether a thread may use memory that another one used before in a way that must come first.
bool must_meet_in_memory(const ir::Kernel& laid, const Sweeps& sweeps, const TileLayouts& layouts);

}  // namespace tilewright
