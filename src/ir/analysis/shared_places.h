// SPDX-License-Identifier: Apache-2.0
// ir/analysis/shared_places.h — the part of shared memory that an op of stage Final may touch: the
// bytes of an array, and which of its slots; and how much all arrays of a kernel take.
#pragma once

#include <cstdint>

#include "ir/analysis/slots.h"
#include "ir/kernel.h"

namespace tilewright::ir {

struct SharedPlace {
  const Op* array = nullptr;                            // null: not known
  std::int64_t first = 0, end = std::int64_t{1} << 40;  // bytes
  Slots slots = {};

  bool overlaps(const SharedPlace& other) const {
    return first < other.end && other.first < end &&
           (array != other.array || slots.may_meet(other.slots));
  }
  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};

// The array that a view, a descriptor, or what is further on, begins in; null: not known.
const Op* array_behind(const Kernel& kernel, Value value);
SharedPlace shared_place(const Kernel& kernel, const SlotNumbers& slots, Value value);

// Whether the op makes an array, or a group of arrays, in shared memory.
bool makes_shared(const Kernel& kernel, const Op& op);
// Whether it is the thread's part of a row in shared memory.
bool is_own_row(const Op& op);

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
