// SPDX-License-Identifier: Apache-2.0
// passes/roles/empty_maps.h — tensors that may have no elements, of which no tensor map can be
// made.
#pragma once

#include <vector>

#include "ir/builder.h"

namespace tilewright {

// Whether the tensor has any, an i1 for each dimension of its map; none where its size is known to
// be above 0.
std::vector<ir::Value> have_elements(ir::Builder& build, const ir::Kernel& kernel,
                                     const ir::KernelMap& map);

// A launch makes a size of 0 or less one of 1. Then a tile lies behind that element: what is copied
// from there is zeros, what is stored there is dropped. `at` is the tile's first coordinate, `size`
// how many elements it has along it: a place that is as well aligned as a tile is
// (ir/map_dimensions.h).
ir::Value coordinate_of(ir::Builder& build, ir::Value has_elements, ir::Value at,
                        std::int64_t size);

}  // namespace tilewright
