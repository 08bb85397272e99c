// SPDX-License-Identifier: Apache-2.0
// passes/defer_stores.h — a persistent program's result is stored beside the products of the next
// one. Takes a kernel with roles at the Tile stage, as the last pass.
//
//   for %p = %first, %programs, %blocks     for %p = .. (%held, %parts, %to)
//     for %k (%sum, %position)                for %k (%sum, %position)
//       await; dot; release             =>      await; dot; release
//     %c = cast %sum                            if %round < %parts: store part %round of %held at
//     %to store %to, %c                           for %turn = 0, the last program ? 2 : 1
//                                               for %part = %done, %parts: store it
//                                               %held = cast %sum, %parts = all, %done = 0
//
// Tensor cores do not wait for stores then: the result stays in registers, in 16 bits, and goes out
// in parts of 128 bytes of a row, one in each of the first rounds of the next program's loop,
// behind the release of the slot. What the loop was too short for is stored behind it, and so is
// what a block's last program made. The same for the tiles of a kernel that loops over them by
// itself (Triton's tutorial 09); those are in order, so that all threads have stored one before the
// first part of the next one goes out. A part needs less shared memory than the whole result: the ring
// may have more slots.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct DeferStoresOptions {
  int num_warps = 4;
  int most_slots = 4;             // of the ring, where there is room beside a part
  std::int64_t shared_bytes = 0;  // of a block; 0: the slots stay as many as they are
};

// Whether the store was moved: the consumers' only one, the last access of a program, of a tile
// that is small enough to be kept beside the sums.
bool defer_stores(ir::Kernel& kernel, const DeferStoresOptions& options);
void defer_stores(ir::Kernel& kernel, const Target& target);

// Whether the op stores a part of a tile that was held. Parts of one tile, and tiles of different
// programs, are stored in no order; between tiles of one program there is a barrier.
bool is_deferred_store(const ir::Kernel& kernel, const ir::Op& op);

}  // namespace tilewright
