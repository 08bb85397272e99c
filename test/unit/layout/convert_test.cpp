// SPDX-License-Identifier: Apache-2.0
// layout/convert_test.cpp — a plan that stays in registers gives every thread the right elements.
#include "layout/convert.h"

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
