// SPDX-License-Identifier: Apache-2.0
// bench/ceiling_kernels.h — the kernels that ceilings are measured with, for the files that measure
// and their tests.
#pragma once

#include "tilewright/benchmark.h"
#include "tilewright/module.h"

namespace tilewright {

// Each ceiling takes well under a second.
BenchOptions quick_options(Device device);

KernelSource cpu_ceilings(const Target& target);  // tw_copy, tw_multiply_add, tw_bf16_dot
// tw_matrix: wgmma where the target has it, else mma.sync. Float32 is tf32.
KernelSource matrix_source(const Target& target, DType dtype);

}  // namespace tilewright
