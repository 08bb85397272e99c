// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_order.h — where the threads of a program have to meet because of memory that
// they share with the launch: what a program does to it happens in the order of its source.
#pragma once

#include <optional>
#include <set>

#include "ir/kernel.h"
#include "passes/laid/sweeps.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

// Numbers of steps (Step::order) before which all threads meet. None where they would have to meet
// between the loads and the stores of one sweep.
std::optional<std::set<int>> meetings_in_memory(const ir::Kernel& laid, const Sweeps& sweeps,
                                                const TileLayouts& layouts);

}  // namespace tilewright
