// SPDX-License-Identifier: Apache-2.0
// passes/unroll_short_loops.h — loops of a few rounds that load tiles and store them are unrolled,
// so that the loads of all rounds are on their way at once. Takes a kernel at the Tile stage.
//
//   %e = add %from, %four                  %e = add %from, %four
//   %to = min %e, %heads                   %to = min %e, %heads
//   for %from, %to, %one (%h: i32) {  =>   for %from, %to, %one {unroll = 4} (%h: i32) {
//     %x = load ..                           %x = load ..
//     store ..                               store ..
//
// How many rounds there are at most must be known: `to` is the smaller of two numbers, one of which
// lies a constant behind `from`. Loops with products, sums over elements, branches or atomics stay
// as they are, and those whose loads do not fit in 16 registers of 128 threads.
//
// Of loops that only add to tiles, with more in a round than load_ahead carries to the next one,
// two rounds are one: half as many blocks fit a multiprocessor, and each has twice as much on its
// way, which is more where there are few blocks (TritonBench's batched_vecmat_mult has 121 to 225).
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void unroll_short_loops(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
