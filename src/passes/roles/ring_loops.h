// SPDX-License-Identifier: Apache-2.0
// passes/roles/ring_loops.h — the loops of products whose tiles a producer can copy ahead, and what
// it needs to know of them.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"
#include "passes/roles/load_maps.h"

namespace tilewright {

struct RingLoop {
  ir::Op* loop = nullptr;
  std::vector<ir::Op*> dots = {};   // of its body, in order; asynchronous
  std::vector<ir::Op*> loads = {};  // in the order in which products read them
  std::vector<LoadMap> maps = {};   // of each load
};

struct RingLoops {
  // In the order in which they run, one behind the other, with the same maps and the same tiles.
  std::vector<RingLoop> loops;
  // Whether no product waits for another one: then a round's go on while the next round begins.
  bool is_lagging = false;
  std::int64_t stage_bytes = 0;  // of the tiles of a round
  std::int64_t other_bytes = 0;  // what else is in shared memory at the same time
  std::string problem = {};      // why there are none
};

RingLoops find_ring_loops(ir::Kernel& kernel);

}  // namespace tilewright
