// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_to_threads.h — a Laid kernel as the program of one thread: its elements of
// each sweep in arrays, loops over vectors of them, vectors between arrays and memory.
#pragma once

#include <vector>

#include "codegen/cuda/emit.h"
#include "ir/kernel.h"
#include "passes/laid/laid_facts.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

// Values of the Laid kernel that other sweeps would have to treat otherwise.
struct SweepRefusals {
  std::vector<ir::Value> unparted = {};  // to be loaded apart from stores that meet them
  std::vector<ir::Value> unshared = {};  // not to be made in a place that is still read
  bool is_empty() const { return unparted.empty() && unshared.empty(); }
};

struct ThreadProgram {
  ir::Kernel kernel;            // of stage Final
  bool is_crowded = false;      // threads have to hold more than their registers take
  SweepRefusals refusals = {};  // where there are any, the kernel is not whole
  bool fits_shape = true;       // else the row could not be put where it is to lie
};

// Without its barriers and without places through which threads share what one of them has seen in
// memory: enough to know whether the kernel can be lowered, and what it takes.
ThreadProgram sketch_threads(const ir::Kernel& laid, const LaidFacts& facts,
                             const TileLayouts& layouts, const CudaEmitOptions& options);

// Places the barriers of a sketch that is whole. Returns what decides whether threads meet although
// they may see different values of it; null where all come to all barriers.
const ir::Op* finish_threads(const ir::Kernel& laid, ir::Kernel& program, const Target& target);

// With its barriers. Throws ArgumentError where threads could see different values of what decides
// whether they meet.
ThreadProgram lower_to_threads(const ir::Kernel& laid, const LaidFacts& facts,
                               const TileLayouts& layouts, const CudaEmitOptions& options);

}  // namespace tilewright
