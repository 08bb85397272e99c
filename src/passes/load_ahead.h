// SPDX-License-Identifier: Apache-2.0
// passes/load_ahead.h — rows that a loop works on are loaded one iteration ahead, into registers.
// Takes a kernel at the Tile stage, after find_access_forms.
//
// Only of loops that ask for stages (tl.range(.., num_stages=2)) and have no matrix products, which
// pipeline_loops takes care of. Rows behind the last one are not read: none of their elements is
// inside the bounds.
//
//                                    %first = load(affine(%from),
//                                                  bounds(0, %from < %to ? %n : 0))
//   for (%i)                         for (%i, %x = %first)
//     %x = load(affine(%i),     =>     %next = load(affine(%i + step),
//               bounds(0, %n))                      bounds(0, %i + step < %to ? %n : 0))
//     .. %x ..                         .. %x ..
//                                      yield %next
//
// Loads stay where they are when a store, an atomic or a barrier of the loop may be ordered with
// them.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

// No more than `most_bytes` of a loop.
void load_ahead(ir::Kernel& kernel, std::int64_t most_bytes);

// With 16 registers of each of 128 threads.
void load_ahead(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
