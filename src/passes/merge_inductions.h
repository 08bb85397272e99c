// SPDX-License-Identifier: Apache-2.0
// passes/merge_inductions.h — a carried number that grows as the loop's index does becomes the
// index. Takes a kernel at the Source stage, before equal things are looked for.
//
//   %c = sub %first, 132                        for %first, %end, 132 (%i) {
//   for %first, %end, 132, %c (%i, %at) {         %at = add %i, -132
//     %next = add %at, 132                  =>    .. %i ..
//     .. %next ..
//     yield %next
//
// Persistent kernels count their tiles twice, once for what they load and once for what they store
// (Triton's tutorial 09): after this both are seen to be of one tile. Only integers of the index's
// type that begin a known number of steps away from it; sums wrap as they did.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void merge_inductions(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
