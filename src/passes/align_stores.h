// SPDX-License-Identifier: Apache-2.0
// passes/align_stores.h — results of products whose lines nothing is known of are stored in 16 bytes
// where they turn out to be aligned. Takes a kernel at the Tile stage, as one of the last passes.
//
//                                         if (%base % 16 == 0 and %stride * bytes % 16 == 0)
//   %c = cast %sum                          store affine(hint %base {divisible = 16}, hint %stride ..), cast %sum
//   store affine(%base, %stride, 1), %c =>  else
//                                           store affine(%base, %stride, 1), cast %sum
//
// Groups of products have their pointers and lines in memory (Triton's tutorial 08): element by
// element, a tile of 128 x 128 is 128 stores of 2 bytes for each of 128 threads, which nothing runs
// beside. What is computed from the sums for the store alone is computed in both branches.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void align_stores(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
