// SPDX-License-Identifier: Apache-2.0
// passes/laid/add_scratch.h — buffers of shared memory for what threads exchange while they run one
// op, once layouts and places of tiles are decided.
//
// The warps of a reduction or scan meet in slots for their totals; what is sorted or counted lies
// in shared memory meanwhile; an atomic op that one thread does for several gives them the old
// value there; so does a tile pass that a loop hands on to where another one's source lies. The
// words of a ring are scratch, too.
//
//   %m = reduce %x {axis = 0}    =>    buffer @m_scratch : i64[4] {scratch = 1, space = "shared"}
//                                      %m = reduce %x {axis = 0, scratch = "m_scratch"}
#pragma once

#include "passes/laid/laid_facts.h"
#include "tilewright/target.h"

namespace tilewright {

// The kernel has no scratch yet. Its facts stay right: scratch stands behind all other buffers.
void add_scratch(ir::Kernel& kernel, const LaidFacts& facts);

// Takes scratch and offsets away, which other layouts would make wrong.
void clear_scratch(ir::Kernel& kernel);

}  // namespace tilewright
