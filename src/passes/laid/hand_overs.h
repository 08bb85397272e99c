// SPDX-License-Identifier: Apache-2.0
// passes/laid/hand_overs.h — where control flow hands values on: from what a region yields to what
// a loop carries, or a branch gives. All of them change at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

struct HandOver {
  std::span<const ir::Value> from, to;
  std::size_t first = 0;  // of the op's `scratch`, which names one for each value
};

// In program order; without what a loop begins with.
std::vector<HandOver> hand_overs_of(const ir::Op& control);

// Whether value number i lies where another one's new value goes, and must be put aside first.
bool is_overwritten(const ir::Kernel& kernel, const Sweeps& sweeps, const HandOver& values,
                    std::size_t i);

}  // namespace tilewright
