// SPDX-License-Identifier: Apache-2.0
// passes/laid/tile_reads.h — which arrays and which memory a step touches, through which views.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "layout/index_map.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

inline LogSizes sizes_of(const ir::Type& type) { return {type.log_sizes.data(), type.rank}; }
inline int bits_of_type(const ir::Type& type) { return index_bits(sizes_of(type)); }

// Element i of the step's space is element map(i) of the value.
struct TileRead {
  ir::Value value;
  IndexMap map;
};
struct TileAccess {
  const ir::Op* op;  // a load, store or atomic of tiles
  IndexMap map;      // from the step's space to its elements
};
struct TileReads {
  std::vector<TileRead> arrays;
  std::vector<TileAccess> accesses;
};

// Everything that an Elements step, or an Across step over its result, evaluates.
TileReads reads_of(const ir::Kernel& kernel, const Sweeps& schedule, const Step& step);
// The same for values that are wanted element by element at a place between steps.
TileReads reads_of(const ir::Kernel& kernel, const Sweeps& schedule, const Step& step,
                   const std::vector<ir::Value>& values);

// Tiles that are copied element by element where they enter a region of control flow or leave it.
struct TileCopy {
  ir::Value from, to;
};
std::vector<TileCopy> copies_of(const ir::Kernel& kernel, const ir::Op& control);

// The map from a view's index to the index of its operand number `operand`; only for views of
// tiles.
IndexMap view_map(const ir::Kernel& kernel, const ir::Op& op, ir::Value result);

// Of a reduction over tiles of this shape: the index of the total that an element belongs to, and
// the bits of its index along which it is combined with others.
IndexMap total_map(const ir::Type& shape, const ir::Op& reduce);
IndexMap combined_map(const ir::Type& shape, const ir::Op& reduce);

}  // namespace tilewright
