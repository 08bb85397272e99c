// SPDX-License-Identifier: Apache-2.0
// ir/map_dimensions.h — dimensions of a tensor map that a tile has, and those that it has one of: a
// tile of [rows, depth] of a tensor [heads, rows, depth].
#pragma once

#include <span>
#include <string>

#include "ir/kernel.h"

namespace tilewright::ir {

constexpr int no_dimension = -1;  // KernelMap::Dimension::of_tile

inline bool is_of_tile(const KernelMap::Dimension& dimension) {
  return dimension.of_tile != no_dimension;
}

// How many elements of the dimension a tile has.
inline std::int64_t elements_of(const KernelMap::Dimension& dimension, const Type& tile) {
  return is_of_tile(dimension) ? tile.size(dimension.of_tile) : 1;
}

// Bytes of which a tile's first coordinate in the fastest dimension must be a multiple.
constexpr std::int64_t coordinate_bytes = 16;

// What is wrong with the first coordinates of a tile, empty where nothing is. A copy may begin in
// front of its tensor, a store may not. An H200 stops with an illegal instruction at either.
inline std::string coordinates_problem(std::span<const std::int64_t> at, std::int64_t element_bytes,
                                       bool is_store) {
  if (at[0] * element_bytes % coordinate_bytes != 0)
    return "begins at an element that is not aligned to 16 bytes of its row";
  for (const std::int64_t coordinate : at)
    if (is_store && coordinate < 0) return "begins in front of its tensor";
  return "";
}

}  // namespace tilewright::ir
