// SPDX-License-Identifier: Apache-2.0
// passes/roles/split_rounds.h — rounds of a loop with a product taken into shallower ones, so that
// more slots fit in shared memory.
//
//   for %k = 0, %rounds (%sum)              for %k = 0, 2 * %rounds (%sum)
//     %a = tile [64 * %k, 64 deep]    =>      %a = tile [32 * %k, 32 deep]
//     %b = tile [64 * %k, 64 deep]            %b = tile [32 * %k, 32 deep]
//     dot %a, %b, %sum                        dot %a, %b, %sum
//
// The source's depth says how much is loaded at a time; a ring with a producer wants many small
// steps ahead instead of two large ones. An instruction's sums are added in the same order.
#pragma once

#include "ir/kernel.h"
#include "passes/roles/ring_loops.h"

namespace tilewright {

// Into how many parts, of no less than 128 bytes of depth, each round can be taken; 1: it stays.
// That is a loop with one product whose tiles lie side by side along the depth, round by round, and
// that leaves nothing but its sum.
std::int64_t most_parts_of_rounds(const ir::Kernel& kernel, const RingLoops& found);

// `parts` is a power of two up to that.
void split_rounds(ir::Kernel& kernel, RingLoops& found, std::int64_t parts);

}  // namespace tilewright
