// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops.h — loads that feed matrix products become asynchronous copies, some
// iterations ahead of their use. Takes a kernel at the Tile stage, after find_access_forms.
//
// A loop over S stages has buffers of S slots. Before the loop the first S - 1 iterations are
// copied. Each iteration waits for its own copies (the one place where its threads meet), starts
// those of iteration i + S - 1 into the slots that the iteration before has read, and works on its
// own slots. What the addresses depend on is carried around the loop once more, S - 1 steps ahead.
//
//   for (%i, %p)                          copies of iterations 0 .. S - 2
//     %x = load(affine(%p))               for (%i, %ahead, %slot)
//     .. dot(%x, ..)                 =>     wait_copies {pending = S - 2}
//     yield %p + step                       if (%i + (S - 1) * step < %to)
//                                             copy_async(affine(%ahead))
//                                           commit_copies
//                                           %x = read_buffer(%slot)
//                                           .. dot(%x, ..)
//                                           yield %ahead + step, (%slot + 1) % S
//
// Asynchronous products that only add up (lagging_dots.h) go on while the next round begins: the slots that they read are free
// one round later, so that such a loop has S + 1 slots, and their sums are waited for behind it. Where such a product has few
// rows, memory is what it waits for: shared memory that no further block of a multiprocessor could use goes to more slots. A block that
// is alone on its multiprocessor has one slot more: tutorial 03, 128 x 128 x 64 and 4 warps, on an H200, of cuBLAS with 4 and 5 slots:
// 4096^3 0.735 and 0.764, with B as [N, K] 0.772 and 0.914, 2048^3 0.799 and 0.804 (0.914 and 0.913); tutorial 08 0.700 and 0.705, 0.745
// and 0.756, 1.297 and 1.335 with 4 of 4096^3, 8 of 2048^3, 16 of 1024^3. 6 and 7 slots are no better, at 2048^3 1 to 2% slower.
//
// The interpreter lets a copy arrive only at its wait and throws where a machine would read too
// early, overwrite too soon or copy memory that changes meanwhile.
//
// Loads stay where they are when a store, an atomic or a barrier of the loop may be ordered with
// them, when their addresses depend on tiles that the loop makes or loads, when a thread could copy
// less than 4 bytes at once, and when masked-off elements are not 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct PipelineLoopsOptions {
  int num_stages = 3;             // of loops that do not say it themselves; below 2: none
  int most_slots = 1 << 20;       // of any buffer
  std::int64_t shared_bytes = 0;  // the most that a block may use; 0: no limit
  std::int64_t processor_bytes = 0;  // that the blocks of a multiprocessor share; 0: slots are for stages alone
  std::int64_t reserved_bytes = 0;   // that each of them takes besides
};

// Gives a sentence for every loop that has fewer stages than were asked for.
std::vector<std::string> pipeline_loops(ir::Kernel& kernel, const PipelineLoopsOptions& options);

// With the default options and the shared memory of the target.
void pipeline_loops(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
