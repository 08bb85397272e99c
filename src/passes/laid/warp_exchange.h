// SPDX-License-Identifier: Apache-2.0
// passes/laid/warp_exchange.h — tiles in shared memory through which warps move elements among
// their own lanes alone.
#pragma once

#include <cstdint>
#include <set>

#include "passes/laid/tile_layouts.h"

namespace tilewright {

// Numbers of their buffers: every step that reads one walks in a layout in which each warp has the
// elements that it has written, and so it is with all buffers in its place. The lanes of a warp
// wait for each other, and for nobody else.
std::set<std::size_t> exchanged_within_warps(const ir::Kernel& kernel, const Sweeps& schedule,
                                             const TileLayouts& layouts);

}  // namespace tilewright
