// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/plan_kernel.h — a kernel of stage Tile as it will run: of the candidates for its
// shape and its sweeps, best first, the first one that fits.
//
// Each candidate is laid out (form_sweeps, then the tables) and, where its tables say that it can
// run, lowered to stage Final, which alone knows what a thread has to hold. No text is written.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/cuda/emit.h"
#include "ir/kernel.h"

namespace tilewright {

struct KernelPlan {
  ProgramShape shape;
  ir::Kernel laid;
  ir::Kernel program;             // at stage Final; empty where the tables say that it cannot run
  std::int64_t shared_bytes = 0;  // of a block, also when that is more than it can have
  bool fits_shape = true;         // what the shape excludes does not happen
  bool is_crowded = false;        // threads have to hold more than their registers take

  bool fits(const Target& target) const;
};

// One that does not fit where none does.
KernelPlan plan_kernel(const ir::Kernel& tiles, const CudaEmitOptions& options);

// A plan without barriers, which take longer to place than everything before them. Its shared memory
// is what a block needs at most, also when that is more than it can have.
KernelPlan sketch_kernel(const ir::Kernel& tiles, const CudaEmitOptions& options);
// The program of a sketch with its barriers; none where plan_kernel may choose something else, with
// these options or once there are barriers.
std::optional<ir::Kernel> finished_program(const KernelPlan& sketch, const ir::Kernel& tiles,
                                           const CudaEmitOptions& options);

// What the tables of a Laid kernel give a block of shared memory, with its part of a private row.
std::int64_t block_bytes(const ir::Kernel& laid);

// The program of a Laid kernel whose tables are written.
ir::Kernel program_of(const ir::Kernel& laid, const CudaEmitOptions& options);

}  // namespace tilewright
