// SPDX-License-Identifier: Apache-2.0
// tensor/pair.h — a destination and a source of one shape, reduced to the fewest dimensions that
// walk both.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tensor/device/strided.h"
#include "tilewright/tensor.h"

namespace tilewright {

struct PairDimension {
  std::int64_t size = 1;
  std::int64_t destination = 0;  // strides, in elements
  std::int64_t source = 0;
};

// Dimensions from slowest to fastest in the destination; none has size 1. The walk starts `*_shift`
// elements from each side's first element, since dimensions that the destination walks backwards
// are turned round.
struct Pair {
  std::vector<PairDimension> dimensions;
  std::int64_t count = 0;
  std::int64_t destination_shift = 0;
  std::int64_t source_shift = 0;

  // One run of neighbouring elements on both sides.
  bool is_dense() const;
};

// Example: copying [4, 3, 8] contiguous into a contiguous tensor gives one dimension of 96; into
// its transpose, two.
Pair make_pair(const Shape& shape, const Shape& destination_strides, const Shape& source_strides);

// A part of a pair that kernels take: at most 8 dimensions, from these places on.
struct PairPart {
  element::StridedPair pair;
  std::int64_t destination_shift = 0;
  std::int64_t source_shift = 0;
};

// The whole pair as one part, or one part for every position of its slowest dimensions where there
// are more than 8.
void for_parts(const Pair& pair, const std::function<void(const PairPart&)>& run);

}  // namespace tilewright
