// SPDX-License-Identifier: Apache-2.0
// passes/store_by_maps.h — results of consumers are stored by tensor maps. Takes a kernel with
// roles at the Tile stage, before defer_stores.
//
//   %c = cast %sum                      map @c_map : %c_ptr [1 = %N by 1, 0 = %M by %stride]
//   store %to, %c, %inside        =>    %c = cast %sum
//                                       store_map %c, %column, %row {map = "c_map"}
//                                       .. wait_stores {until = "read"}   at the end
//
// Threads write a result to shared memory once, in the order in which a tensor map reads it, and go
// on; the copy engine reads it and knows the tensor's bounds. The store's pointers and mask must
// come apart as those of loads do (roles/load_maps.h), and nothing else of the consumers may touch
// the same memory. By itself it takes results that are deferred (roles/model.h has what it buys),
// others where TILEWRIGHT_EXTRA_PASSES names it. Tiles of a loop of the kernel's own are in order:
// one is in memory before the next one is stored.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct StoreByMapsOptions {
  int num_warps = 4;
  std::int64_t shared_bytes = 0;  // of a block; 0: any number
};

// Whether a store was taken.
bool store_by_maps(ir::Kernel& kernel, const StoreByMapsOptions& options);
void store_by_maps(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
