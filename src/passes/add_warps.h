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
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void add_warps(ir::Kernel& kernel, const Target& target, int num_warps);
// From four warps.
void add_warps(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
