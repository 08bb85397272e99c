// SPDX-License-Identifier: Apache-2.0
// ir/shared_extent.h — which ops of a Final kernel make arrays in shared memory, and how much of it
// all of them take.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace tilewright::ir {

// Of an element of an array, or of all members of a group.
std::int64_t bytes_of_each(const Kernel& kernel, const Op& array);
// Whether the op makes an array, or a group of arrays, in shared memory.
bool makes_shared(const Kernel& kernel, const Op& op);

// What a block of a Final kernel takes of shared memory.
struct SharedExtent {
  std::int64_t bytes = 0;      // of the arrays with an offset
  std::int64_t row_bytes = 0;  // of a block's part of a row, behind which nothing lies
  std::int64_t align = 16;
  bool overlap = false;  // some arrays lie where others do

  std::int64_t all_bytes() const { return bytes + row_bytes; }
};
SharedExtent shared_extent(const Kernel& kernel);

}  // namespace tilewright::ir
