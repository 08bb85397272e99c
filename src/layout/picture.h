// SPDX-License-Identifier: Apache-2.0
// layout/picture.h — a layout drawn as the tile, so that a person can see who holds what.
//
//   8 x 8, a warp
//        0     1     2     3
//   0  0:0   0:1   1:0   1:1   ..     thread 0 holds (0, 0) in register 0 and (0, 1) in register 1
#pragma once

#include <string>

#include "layout/index_map.h"
#include "layout/layout.h"

namespace tilewright {

struct PictureOptions {
  int most_rows = 16;  // more are left out, as ".." says
  int most_columns = 16;
};

// One cell per element: "thread:register". Tiles of more than two dimensions show their last two
// where the others are 0; copies show their first thread.
std::string picture(const Layout& layout, LogSizes sizes, const PictureOptions& options = {});

}  // namespace tilewright
