// SPDX-License-Identifier: Apache-2.0
// ir/analysis/shared_places.h — the part of shared memory that an op of stage Final may touch: the
// bytes of an array, and which of its slots.
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

}  // namespace tilewright::ir
