// SPDX-License-Identifier: Apache-2.0
// ir/interpret/shapes.h — ops that move elements without changing them, and the matrix product.
#pragma once

#include <span>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// Where an element of a tile lies along one axis: tiles are seen as outer x length x inner.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
  AxisView(const Type& type, std::int64_t axis);
  std::size_t index(std::int64_t o, std::int64_t k, std::int64_t i) const {
    return static_cast<std::size_t>((o * length + k) * inner + i);
  }
};

Tile broadcast_tile(const Tile& tile, const Type& result);
Tile permute_tile(const Tile& tile, const std::vector<std::int64_t>& order, const Type& result);
Tile join_tiles(const Tile& a, const Tile& b, const Type& result);
Tile split_tile(const Tile& tile, int half, const Type& result);
Tile concatenate_tiles(const Tile& a, const Tile& b, std::int64_t axis, const Type& result);
// `is_outside` is set when an index is not on the axis; its element is then 0.
Tile gather_tile(const Tile& tile, const Tile& index, std::int64_t axis, const Type& result,
                 bool* is_outside);
// Stages `first` to `last` of a bitonic network.
Tile sort_tile(Tile values, std::int64_t first, std::int64_t last, std::string_view order);
Tile histogram_tile(const Tile& values, const Tile* mask, const Type& result);
Tile affine_tile(std::span<const Element> base_and_strides, const Type& result);
Tile bounds_tile(std::span<const Element> lows_and_highs, const Type& result);
// Products summed in double (integers exactly), rounded once to the result's type.
Tile dot_tiles(const Tile& a, const Tile& b, const Tile& accumulator, const Type& result,
               bool float64);

}  // namespace tilewright::ir
