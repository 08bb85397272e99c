// SPDX-License-Identifier: Apache-2.0
// layout/convert_test.cpp — a plan that stays in registers gives every thread the right elements.
#include "layout/convert.h"

#include <utility>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

Layout blocked(const Sizes& sizes, std::vector<int> order, int log_vector) {
  return Layout::blocked(
      {.log_sizes = sizes, .order = std::move(order), .log_vector = log_vector, .log_lanes = 5});
}

void expect_right(const Layout& from, const Layout& to, const IndexMap& view) {
  const Conversion plan = plan_conversion(from, to, view);
  ASSERT_EQ(plan.kind, Conversion::Kind::Registers);
  for (std::uint64_t t = 0; t < 128; ++t)
    for (std::uint64_t r = 0; r < plan.source.size(); ++r)
      ASSERT_EQ(from.element({plan.source[r], t % 32, t / 32}),
                view(to.element({r, t % 32, t / 32})));
}

// ---- Exchanges

// What threads of a warp have in their registers after they exchanged it, as numbers of elements.
std::vector<std::vector<std::uint64_t>> exchanged(const Layout& from, std::uint64_t warp,
                                                  const std::vector<LaneSwap>& swaps) {
  std::vector<std::vector<std::uint64_t>> held(32);
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(from.register_count()); ++r)
      held[lane].push_back(from.element({r, lane, warp}));
  for (const LaneSwap& swap : swaps)
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::size_t other = lane ^ std::size_t{1} << swap.lane;
      if (other < lane) continue;
      for (std::size_t r = 0; r < held[lane].size(); ++r)
        if ((r >> swap.register_bit & 1) == 0)
          std::swap(held[lane][r | std::size_t{1} << swap.register_bit], held[other][r]);
    }
  return held;
}

// Parts of results of products, of 64 to 256 columns: each lane gets lines of 8 or 16 bytes.
TEST(Exchange, GivesLanesLines) {
  for (int columns = 4; columns <= 6; ++columns)
    for (int log_vector = 1; log_vector <= 3; ++log_vector) {
      const int bits = columns + 7;
      std::vector<std::uint64_t> registers = {1, std::uint64_t{8} << columns};
      for (int c = 3; c < columns; ++c) registers.push_back(std::uint64_t{1} << c);
      const auto row = [&](int r) { return std::uint64_t{1} << (columns + r); };
      const Layout from(BitMatrix(bits, registers), BitMatrix(bits, {2, 4, row(0), row(1), row(2)}),
                        BitMatrix(bits, {row(4), row(5), row(6)}));
      const auto to = from.lines_in_registers(log_vector);
      if (columns - 3 < log_vector - 1) {  // not as many columns as lanes would have
        if (!to) continue;
      }
      ASSERT_TRUE(to) << columns << " " << log_vector;
      EXPECT_GE(to->log_vector(), log_vector);
      const auto swaps = plan_swaps(from, *to);
      ASSERT_TRUE(swaps);
      EXPECT_EQ(swaps->size(), static_cast<std::size_t>(log_vector - 1));
      const Layout after = swapped(from, *swaps);
      const Conversion plan = plan_conversion(after, *to, IndexMap::identity(bits));
      ASSERT_EQ(plan.kind, Conversion::Kind::Registers);
      for (std::uint64_t warp = 0; warp < 8; ++warp) {
        const auto held = exchanged(from, warp, *swaps);
        for (std::uint64_t lane = 0; lane < 32; ++lane)
          for (std::uint64_t r = 0; r < plan.source.size(); ++r)
            ASSERT_EQ(held[lane][plan.source[r]], to->element({r, lane, warp}));
      }
    }
}

TEST(Exchange, IsNotForOtherWarps) {
  EXPECT_FALSE(plan_swaps(blocked({4, 6}, {1, 0}, 2), blocked({4, 6}, {0, 1}, 0)));
}

TEST(Conversion, TheSameLayoutNeedsNothing) {
  const Layout layout = blocked({10}, {0}, 2);
  const Conversion plan = plan_conversion(layout, layout, IndexMap::identity(10));
  EXPECT_EQ(plan.source, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Conversion, AnotherVectorWidthMovesElements) {
  EXPECT_EQ(
      plan_conversion(blocked({10}, {0}, 2), blocked({10}, {0}, 0), IndexMap::identity(10)).kind,
      Conversion::Kind::Shared);
}

TEST(Conversion, BroadcastOfASliceIsFree) {
  const Sizes sizes = {4, 6};
  const Layout whole = blocked(sizes, {1, 0}, 2);
  for (int axis = 0; axis < 2; ++axis) {
    const IndexMap slice = slice_map(sizes, axis);
    expect_right(whole.through(slice.matrix).without_register_copies(), whole, slice);
  }
}

TEST(Conversion, TransposeOfTheTransposedLayoutIsFree) {
  const Sizes sizes = {4, 6};
  const std::vector<std::int64_t> order = {1, 0};
  const IndexMap view = permute_map(sizes, order);
  expect_right(blocked(sizes, {1, 0}, 2), blocked({6, 4}, {0, 1}, 2), view);
  EXPECT_EQ(plan_conversion(blocked(sizes, {1, 0}, 2), blocked({6, 4}, {1, 0}, 2), view).kind,
            Conversion::Kind::Shared);
}

TEST(Conversion, SplitOfWhatAThreadHoldsIsFree) {
  const Sizes sizes = {9, 1};
  const Layout whole = blocked({10}, {0}, 1);
  const Layout half = blocked({9}, {0}, 0);
  for (int h = 0; h < 2; ++h) expect_right(whole, half, split_map(Sizes{9}, h));
  expect_right(half, whole, join_map(Sizes{9}));
}

}  // namespace
}  // namespace tilewright
