// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_to_threads.h — a Laid kernel as the program of one thread: its elements of
// each sweep in arrays, loops over vectors of them, vectors between arrays and memory.
#pragma once

#include <optional>

#include "codegen/cuda/emit.h"
#include "ir/kernel.h"
#include "passes/laid/laid_facts.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

struct ThreadProgram {
  ir::Kernel kernel;        // of stage Final
  bool is_crowded = false;  // threads have to hold more than their registers take
};

// None where threads have to meet, or the kernel has ops that are not lowered yet: products, sums,
// what moves across elements, atomics, and rows that are turned round or lie in shared memory.
std::optional<ThreadProgram> lower_to_threads(const ir::Kernel& laid, const LaidFacts& facts,
                                              const TileLayouts& layouts,
                                              const CudaEmitOptions& options);

}  // namespace tilewright
