// SPDX-License-Identifier: Apache-2.0
// ir/map_dimensions.h — dimensions of a tensor map that a tile has, and those that it has one of: a
// tile of [rows, depth] of a tensor [heads, rows, depth].
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

constexpr int no_dimension = -1;  // KernelMap::Dimension::of_tile

inline bool is_of_tile(const KernelMap::Dimension& dimension) {
  return dimension.of_tile != no_dimension;
}

}  // namespace tilewright::ir
