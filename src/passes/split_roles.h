// SPDX-License-Identifier: Apache-2.0
// passes/split_roles.h — a producer that copies tiles by tensor maps, and consumers that multiply them.
//
// A kernel whose one loop with products loads nothing but tiles of tensors is taken apart: the producer has the loop, all loops
// around it and what coordinates need, and starts copies into a ring; the consumers have all the rest and wait for the ring.
// Nobody waits for the other before the ring is full or empty: with programs in a loop (persist_programs) the next program's tiles
// arrive while the results of this one are stored. `roles/model.h` says where that pays.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct SplitRolesOptions {
  int num_warps = 4;
  int num_stages = 3;
  int most_slots = 1024;
  std::int64_t shared_bytes = 0;  // of a block; 0: any number
  bool persists = true;
  bool asks_model = true;
};

// Whether the kernel has a product that roles pay for, by the model.
bool may_have_roles(const ir::Kernel& kernel, int num_warps);

// Whether it was taken apart.
bool split_roles(ir::Kernel& kernel, const SplitRolesOptions& options);
void split_roles(ir::Kernel& kernel, const Target& target);

// Programs along axis 0 in a loop, by blocks that take every so many. Kernels that ask for other axes, or whose programs wait for
// each other, stay as they are.
void persist_programs(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
