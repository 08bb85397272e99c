// SPDX-License-Identifier: Apache-2.0
// passes/delay_reductions.h — what a loop adds up is reduced once, behind the loop; inside of it
// each thread combines elements of its own. Takes a kernel at the Tile stage.
//
//   for (%acc = %zero)                            for (%part = -0.0 : f32[16,8])
//     %x = ..                   : f32[64,8]         %x = ..                              : f32[64,8]
//     %s = reduce %x {axis = 0} : f32[8]      =>    %s = reduce %x {axis = 0, parts = 16} : f32[16,8]
//     %t = add %acc, %s         : f32[8]            %t = add %part, %s                   : f32[16,8]
//     yield %t                                      yield %t
//                                                 %r = reduce %part {axis = 0} : f32[8]
//                                                 %u = add %zero, %r
//
// A reduction over lanes takes exchanges, one over warps two barriers, in every round, and the loads
// of the next round wait for them. A thread that adds to parts of its own waits for nobody.
// Permutations, reshapes and splats of the reduced value move behind the loop with it. The other
// way round, a tile that a loop only adds up and that is only reduced behind the loop needs no more
// registers than one part for each thread:
//
//   for (%acc = 0 : f32[64,8])                    for (%part = 0 : f32[16,8])
//     %t = add %acc, %x     : f32[64,8]     =>      %s = reduce %x {axis = 0, parts = 16} : f32[16,8]
//     yield %t                                      %t = add %part, %s                   : f32[16,8]
//   reduce %acc {axis = 0}                        reduce %part {axis = 0}
//
// How many parts no two threads share, thread_parts.h says. The order of a reduction is free, so
// that of the rounds is too. What is idempotent (max, min, and, or) starts from the carried value
// itself, so that a loop without rounds leaves it as it is, NaN or not.
//
// Reductions are taken out of loops that have no other op across elements: those have no barrier
// then. Their parts must fit in 32 registers of a thread and 8192 of a block; those of a sum of a
// whole row in 4, since loops along a row have one round in most launches and many blocks beside
// them (Liger's sparsemax backward with 8 took 1.05 of its time). Values of less than 32 bits would
// be rounded in every sum and stay as they are.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void delay_reductions(ir::Kernel& kernel, const Target& target, int num_warps);
// With four warps.
void delay_reductions(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
