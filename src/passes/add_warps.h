// SPDX-License-Identifier: Apache-2.0
// passes/add_warps.h — a program whose loops carry more sums of products than a thread's registers
// hold gets a second warpgroup. Takes a kernel at the Source stage; the kernel's `shape` has the
// number of warps from here on.
//
// How many warps work on a tile changes no result. The gradients of Triton's attention tutorial at
// head dimension 128 carry two tiles of 128 x 128: 256 registers of each of 128 threads. Causal, on
// an H200, 16k rows, TFLOP/s with 4 and with 8 warps: 119 and 344 (Triton 126), all passes on 391;
// at head dimension 64 (128 registers) 354 and 373 (Triton 354). Kernels that ask for their number
// of warps keep it.
//
// So does one that goes over its tiles of 128 x 128 by itself, as Triton's tutorial 08, of which a
// multiprocessor has one block. On an H200, 128 x 128 x 64, of one cuBLAS call per group, 4 and 8
// warps: 4 of 4096^3 0.713 and 0.749 with 3 stages, 0.716 and 0.776 with 4; 8 of 2048^3 0.736 and
// 0.795, 0.740 and 0.828. What is left is how fast tiles of that size come out of the L2 cache:
// products alone make 870 TFLOP/s, with copies of what nobody else reads 340.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void add_warps(ir::Kernel& kernel, const Target& target, int num_warps);
// From four warps.
void add_warps(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
