// SPDX-License-Identifier: Apache-2.0
// picture_test.cpp — layouts as a person sees them.
#include "layout/picture.h"

#include <gtest/gtest.h>

#include "layout/mma.h"

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

TEST(Picture, OfABlockedLayout) {
  const Sizes sizes = {2, 3};
  const Layout layout = Layout::blocked(
      {.log_sizes = sizes, .order = {1, 0}, .log_vector = 1, .log_lanes = 3, .log_warps = 1});
  EXPECT_EQ(picture(layout, sizes),
            "         0     1     2     3     4     5     6     7\n"
            "   0   0:0   0:1   1:0   1:1   2:0   2:1   3:0   3:1\n"
            "   1   4:0   4:1   5:0   5:1   6:0   6:1   7:0   7:1\n"
            "   2   8:0   8:1   9:0   9:1  10:0  10:1  11:0  11:1\n"
            "   3  12:0  12:1  13:0  13:1  14:0  14:1  15:0  15:1\n");
}

TEST(Picture, LeavesOutWhatIsTooMuch) {
  const MmaShape shape = MmaShape::of_bytes(2);
  const Layout result = mma_layouts({.rows = 4, .columns = 4, .depth = 4}, shape, {}).result;
  EXPECT_EQ(picture(result, Sizes{4, 4}, {.most_rows = 2, .most_columns = 10}),
            "        0    1    2    3    4    5    6    7    8    9\n"
            "   0  0:0  0:1  1:0  1:1  2:0  2:1  3:0  3:1  0:4  0:5  ..\n"
            "   1  4:0  4:1  5:0  5:1  6:0  6:1  7:0  7:1  4:4  4:5  ..\n"
            "  ..\n");
}

TEST(Picture, OfAVectorAndOfOneElement) {
  const Sizes vector = {2};
  const Layout layout =
      Layout::blocked({.log_sizes = vector, .order = {0}, .log_lanes = 5, .log_warps = 0});
  EXPECT_EQ(picture(layout, vector),
            "        0    1    2    3\n"
            "   0  0:0  1:0  2:0  3:0\n");
  const Layout one =
      Layout::blocked({.log_sizes = {}, .order = {}, .log_lanes = 5, .log_warps = 0});
  EXPECT_EQ(picture(one, Sizes{}), "        0\n   0  0:0\n");
}

}  // namespace
}  // namespace tilewright
