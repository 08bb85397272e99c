// SPDX-License-Identifier: Apache-2.0
// passes/laid/place_tiles.h — where the tiles of a Laid kernel live, once their layouts are
// assigned.
//
// A buffer whose readers find every element in their own registers is registers, unless there are
// too many; any other one is shared memory, as are slots. Elements of shared memory that are read
// by lines, as products do, stand in an order that keeps eight lines in different banks; what
// asynchronous products read stands as those want it. A scan is made in registers where each thread
// has few elements and the layout deals them out in order.
#pragma once

#include "passes/laid/laid_facts.h"

namespace tilewright {

struct PlaceOptions {
  // The one largest tile that is loaded outside of loops and kept is a private buffer of shared
  // memory: each thread copies its vectors there and reads those alone.
  bool keeps_row_private = false;
};
void place_tiles(ir::Kernel& kernel, const LaidFacts& facts, const PlaceOptions& options);

}  // namespace tilewright
