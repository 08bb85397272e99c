// SPDX-License-Identifier: Apache-2.0
// layout/map_box.h — whether a copy by a tensor map puts the elements of a tile where its array
// wants them, and in which boxes.
//
// A box is written line by line, lines of at most 128 bytes, whose chunks of 16 bytes are exchanged
// by bits of their own address; a line has two chunks at least. A tile is copied in panels of one line's width, a panel in boxes of
// at most 256 lines; panels stand one after the other.
#pragma once

#include <cstdint>
#include <optional>

#include "layout/swizzle.h"

namespace tilewright {

constexpr std::int64_t least_line_bytes = 32;

struct MapBox {
  int line = 0;           // elements of a line
  int lines = 0;          // of a box
  int swizzle_bytes = 0;  // 32, 64 or 128
  friend bool operator==(const MapBox&, const MapBox&) = default;
};

// None where no box does it. The array begins at a multiple of 1024 bytes.
std::optional<MapBox> find_map_box(LogSizes sizes, const Swizzle& swizzle, int element_bytes);

}  // namespace tilewright
