// SPDX-License-Identifier: Apache-2.0
// passes/roles/empty_maps.h — tensors that may have no elements, of which no tensor map can be
// made.
#pragma once

#include "ir/builder.h"

namespace tilewright {

// Whether the tensor has elements, an i1; none where all of its sizes are known to be above 0.
ir::Value has_elements(ir::Builder& build, const ir::Kernel& kernel, const ir::KernelMap& map);

// A launch makes the map of a tensor without elements as one with a single element. Then a tile
// lies in front of it: what is copied from there is zeros, what is stored there is dropped. `first`
// is the tile's first coordinate, `size` how many elements it has along it.
ir::Value first_coordinate(ir::Builder& build, ir::Value has_elements, ir::Value first,
                           std::int64_t size);

}  // namespace tilewright
