// SPDX-License-Identifier: Apache-2.0
// passes/roles/delayed_pairs.h — loops of attention whose second product may be made a round later.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "passes/roles/ring_loops.h"

namespace tilewright {

// The left operand of the second product is computed from the first one; the right one is a tile of
// the ring that nobody else reads; the loop carries its sum, which the next loop goes on with.
struct DelayedPair {
  ir::Op* first = nullptr;
  ir::Op* second = nullptr;
  std::size_t load = 0;     // the number of the right operand's load among the loop's
  std::size_t carried = 0;  // the number of the value that the loop carries its sum by
};

// One for each loop; none where a loop is no such loop.
std::vector<DelayedPair> find_delayed_pairs(const ir::Kernel& kernel, const RingLoops& found);

}  // namespace tilewright
