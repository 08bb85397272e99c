// SPDX-License-Identifier: Apache-2.0
// passes/load_ahead.h — rows that a loop works on are loaded one iteration ahead, into registers.
// Takes a kernel at the Tile stage, after find_access_forms.
//
// Of loops that ask for stages (tl.range(.., num_stages=2)), that reduce elements in every round or
// that carry a tile, and have no matrix products, which pipeline_loops takes care of. A reduction
// makes threads wait for each other, and loads behind its barrier begin when the slowest thread is
// there; a recurrence does little in a round but wait for memory: up to four of its rounds are
// loaded ahead, and it is unrolled as often. Loops that take a row in pieces stay as they are, but
// for those of many rounds (16 and more, all constants) with at most 512 bytes each, which are like
// recurrences. Rows behind the last one are not read: none of their elements is inside the bounds.
// Scalars that loops carry, such as pointers that go on row by row, are computed ahead too.
//
// On an H200, of Triton, before and after: fla's recurrence of HGRN 0.98 and 2.5 to 3.0 (1.00 when it
// was not unrolled), TritonBench's chunk_gate_recurrence 0.70 to 0.85 and 1.6 to 2.0; layernorm_gated
// backward 0.93 and 1.24 to 1.32, rms_norm_gated backward 0.94 and 1.08, layer_norm backward 1.02 to
// 1.09 and 1.27 to 1.54. Rows in pieces (Liger's sparsemax backward) took 1.05 to 1.14 of their time.
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

// No more than `most_bytes` of a loop; twice as much of one that reduces elements.
void load_ahead(ir::Kernel& kernel, std::int64_t most_bytes);

// With 16 registers of each of 128 threads.
void load_ahead(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
