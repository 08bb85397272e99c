// SPDX-License-Identifier: Apache-2.0
// layout/layout_test.cpp — blocked layouts hold every element, once unless there are too few.
#include "layout/layout.h"

#include <map>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

// How often each element is held.
std::map<std::uint64_t, int> held(const Layout& layout) {
  std::map<std::uint64_t, int> out;
  for (std::uint64_t w = 0; w < std::uint64_t{1} << layout.warps().columns(); ++w)
    for (std::uint64_t l = 0; l < 32; ++l)
      for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(layout.register_count()); ++r)
        ++out[layout.element({r, l, w})];
  return out;
}

TEST(Layout, VectorOfFourOverFourWarps) {
  const Layout layout =
      Layout::blocked({.log_sizes = {10}, .order = {0}, .log_vector = 2, .log_lanes = 5});
  EXPECT_EQ(layout.to_string(), "register 1 2 512 | lane 4 8 16 32 64 | warp 128 256");
  EXPECT_EQ(layout.log_vector(), 2);
  EXPECT_EQ(layout.copy_bits(), 0u);
  EXPECT_EQ(layout.element({.reg = 5, .lane = 3, .warp = 1}), 512u + 128 + 12 + 1);
}

TEST(Layout, SmallTilesAreCopied) {
  const Layout layout = Layout::blocked({.log_sizes = {3}, .order = {0}, .log_lanes = 5});
  EXPECT_EQ(layout.to_string(), "register  | lane 1 2 4 0 0 | warp 0 0");
  EXPECT_EQ(layout.copy_bits(), 0b1111000u);
  EXPECT_EQ(layout.owner(5), (Place{.reg = 0, .lane = 5, .warp = 0}));
}

TEST(Layout, EveryElementIsHeldEquallyOften) {
  for (int rows = 0; rows <= 6; ++rows)
    for (int columns = 0; columns <= 7; ++columns)
      for (int vector = 0; vector <= 3; ++vector)
        for (int warps = 0; warps <= 3; ++warps)
          for (const std::vector<int>& order : {std::vector{0, 1}, std::vector{1, 0}}) {
            const Layout layout = Layout::blocked(
                {.log_sizes = {static_cast<std::uint8_t>(rows), static_cast<std::uint8_t>(columns)},
                 .order = order,
                 .log_vector = vector,
                 .log_lanes = 5,
                 .log_warps = warps});
            const auto times = held(layout);
            ASSERT_EQ(times.size(), std::size_t{1} << (rows + columns)) << layout.to_string();
            for (const auto& [element, n] : times) ASSERT_EQ(n, times.begin()->second);
            EXPECT_TRUE(layout.covers_all());
          }
}

TEST(Layout, OwnersAreThePlacesWithoutCopyBits) {
  const Layout layout = Layout::blocked(
      {.log_sizes = {2, 3}, .order = {1, 0}, .log_vector = 1, .log_lanes = 5, .log_warps = 3});
  std::map<std::uint64_t, int> owned;
  for (std::uint64_t w = 0; w < 8; ++w)
    for (std::uint64_t l = 0; l < 32; ++l) {
      if (((w << 5 | l) & layout.copy_bits()) != 0) continue;
      for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(layout.register_count()); ++r) {
        const std::uint64_t element = layout.element({r, l, w});
        ++owned[element];
        EXPECT_EQ(layout.owner(element), (Place{r, l, w}));
      }
    }
  EXPECT_EQ(owned.size(), 32u);
  for (const auto& [element, n] : owned) EXPECT_EQ(n, 1);
}

TEST(Layout, SliceKeepsElementsWithTheirThreads) {
  const std::vector<std::uint8_t> sizes = {4, 6};
  const Layout whole =
      Layout::blocked({.log_sizes = sizes, .order = {1, 0}, .log_vector = 2, .log_lanes = 5});
  for (int axis = 0; axis < 2; ++axis) {
    const IndexMap slice = slice_map(sizes, axis);
    const Layout part = whole.through(slice.matrix);
    for (std::uint64_t w = 0; w < 4; ++w)
      for (std::uint64_t l = 0; l < 32; ++l)
        for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(whole.register_count()); ++r)
          EXPECT_EQ(part.element({r, l, w}), slice(whole.element({r, l, w})));
    const Layout kept = part.without_register_copies();
    EXPECT_TRUE(kept.covers_all());
    EXPECT_LE(kept.register_count(), part.register_count());
    EXPECT_EQ(kept.registers().rank(), kept.registers().columns());
  }
}

TEST(Layout, OrderDecidesWhichDimensionIsDealtFirst) {
  const Layout rows =
      Layout::blocked({.log_sizes = {5, 5}, .order = {0, 1}, .log_vector = 1, .log_lanes = 5});
  EXPECT_EQ(rows.lanes().column(0), 64u);  // along dimension 0
  EXPECT_EQ(rows.log_vector(), 0);         // which is not contiguous
}

}  // namespace
}  // namespace tilewright
