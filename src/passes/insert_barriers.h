// SPDX-License-Identifier: Apache-2.0
// passes/insert_barriers.h — barriers between accesses of different threads to shared memory.
//
// Needs the program of a thread (stage Final). Afterwards no pair of accesses to the same bytes, one
// of them a write, is left that threads could make in another order (rule F5). A pair gets its
// barrier before the largest op that holds the second access and not the first, so that loops over
// elements have theirs outside, but inside a branch that all threads take or leave; pairs of two rounds of a loop come first, since a barrier inside the
// loop often serves for what stands before it too. A barrier with nothing between it and the one
// before is taken out. Copies that may still be under way where their place is touched are waited
// for there (rule F6).
//
//   call %sum, %slots {function = "reduce_block", ..}      call %sum, %slots {..}
//   ..                                                =>   ..
//   call %all, %slots {function = "reduce_block", ..}      barrier
//                                                          call %all, %slots {..}
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void insert_barriers(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
