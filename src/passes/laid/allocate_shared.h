// SPDX-License-Identifier: Apache-2.0
// passes/laid/allocate_shared.h — the offset of every buffer in a block's shared memory.
//
// Buffers get places in the order in which ops first need them, each the lowest one that is free:
// those that are never alive together may have the same place. Private rows lie beside all others.
//
//   buffer @a : f32[1024] {space = "shared", ..}          {.., offset = 0}
//   buffer @s : i64[4] {scratch = 1, space = "shared"} => {.., offset = 4096}
//   buffer @b : f32[1024] {space = "shared", ..}          {.., offset = 0}, after the last use of @a
#pragma once

#include "passes/laid/laid_facts.h"

namespace tilewright {

void allocate_shared(ir::Kernel& kernel, const LaidFacts& facts);

// Bytes of a block's shared memory that buffers with offsets reach to.
std::int64_t shared_bytes_of(const ir::Kernel& kernel);

}  // namespace tilewright
