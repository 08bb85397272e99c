// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_to_threads.h — a Laid kernel as the program of one thread: its elements of
// each sweep in arrays, loops over vectors of them, vectors between arrays and memory.
#pragma once

#include <string>

#include "codegen/cuda/emit.h"
#include "ir/kernel.h"
#include "passes/laid/laid_facts.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {

struct ThreadProgram {
  ir::Kernel kernel;        // of stage Final
  bool is_crowded = false;  // threads have to hold more than their registers take
  // What the kernel has that is not lowered yet, as a sentence's subject and verb; empty where all
  // of it is. Such a kernel is written by the emitter.
  std::string refused = {};
};

// With its barriers.
ThreadProgram lower_to_threads(const ir::Kernel& laid, const LaidFacts& facts,
                               const TileLayouts& layouts, const CudaEmitOptions& options);

}  // namespace tilewright
