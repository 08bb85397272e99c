// SPDX-License-Identifier: Apache-2.0
// passes/laid/reduce_plan.h — over which threads a reduction goes, and how much shared memory its
// warps meet in.
#pragma once

#include <cstdint>

#include "passes/laid/sweeps.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

struct ReducePlan {
  Layout kept;                   // of the totals
  int registers = 0;             // bits of the register's number that the axis goes along
  int lanes = 0;                 // of the lane's number
  int warps = 0;                 // of the warp's number
  bool is_over_cluster = false;  // by all threads of a program's blocks, once
  std::int64_t slots = 0;        // groups of totals in shared memory; 0: warps need not meet
};

// `kernel` has its shape and layouts.
ReducePlan plan_reduce(const ir::Kernel& kernel, const Sweeps& sweeps, const TileLayouts& layouts,
                       const Step& step, const ir::Op& reduce);

}  // namespace tilewright
