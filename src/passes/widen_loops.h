// SPDX-License-Identifier: Apache-2.0
// passes/widen_loops.h — two rounds of a loop with products as one that is twice as wide; a last
// round that is left over is made as it was. Takes a kernel at the Tile stage, before choose_units.
//
//   for %i = %from, %to, 64 (%m, %l, %sum)      for %i = %from, %even, 128 (%m, %l, %sum)
//     %k = load .. : f16[64, 64]                  %k = load .. : f16[128, 64]
//     %s = dot %q, %k^T, 0 : f32[128, 64]   =>    %s = dot %q, %k^T, 0 : f32[128, 128]
//     ..                                          ..
//                                               for %i = %even, %to, 64 (%m, %l, %sum)
//                                                 as before
//
// The tiles of the next round must lie behind those of this one (widen/sides.h), and what the loop
// carries must be sums and the softmax's like (widen/recurrences.h): then the result is the same
// but for how floats are rounded. Where a factor is asked to be positive and is not, all rounds are
// made as they were. Where a softmax's largest element may be -inf at first, the loop as it was
// comes first instead, with one or two rounds: a row that has no number in the first of them is NaN.
//
// Both loops have `unroll` 1, the sign that their rounds are as wide as they shall be; loops of the
// source that ask to be unrolled stay as they are.
//
// What a round costs beside its products (barriers, waits, reductions over lanes, rescaling) is
// paid half as often, and products of few columns read their left operand half as often.
// `widen/model.h` says where that pays.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct WidenLoopsOptions {
  int num_warps = 4;
  int num_stages = 0;  // of loops that ask for none; wide rounds have half as many
};

// Whether there was one.
bool widen_loops(ir::Kernel& kernel, const Target& target, const WidenLoopsOptions& options);
void widen_loops(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
