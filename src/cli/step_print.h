// SPDX-License-Identifier: Apache-2.0
// cli/step_print.h — tiles as text for a person who steps through a kernel.
#pragma once

#include <string>
#include <vector>

#include "ir/interpret/tile.h"

namespace tilewright::cli {

// "float32[4, 32]  min -2.1  max 1.9  2 NaN" and the first elements of each row.
std::string tile_text(const ir::Tile& tile);

// One element, or a part of the tile: "3", "0:4, 7", ":, 2". Throws ArgumentError.
ir::Tile tile_slice(const ir::Tile& tile, const std::string& indices);

// Rows and columns as characters from low to high; larger tiles are reduced to 64 columns and 32
// rows, each the largest of its part.
std::string heat_map(const ir::Tile& tile);

// Pointers as names of elements, where the caller knows them; numbers as ever.
std::string element_text(const ir::Type& type, ir::Element element);

}  // namespace tilewright::cli
