// SPDX-License-Identifier: Apache-2.0
// layout/index_map_test.cpp — views against plain index arithmetic.
#include "layout/index_map.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

std::vector<std::uint64_t> coordinates(const Sizes& sizes, std::uint64_t index) {
  std::vector<std::uint64_t> out(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    out[d] = index & ((std::uint64_t{1} << sizes[d]) - 1);
    index >>= sizes[d];
  }
  return out;
}

std::uint64_t flat(const Sizes& sizes, const std::vector<std::uint64_t>& at) {
  std::uint64_t index = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) index = index << sizes[d] | at[d];
  return index;
}

std::uint64_t count(const Sizes& sizes) { return std::uint64_t{1} << index_bits(sizes); }

TEST(IndexMap, Permute) {
  const Sizes operand = {1, 3, 2};
  const std::vector<std::int64_t> order = {2, 0, 1};
  const Sizes result = {2, 1, 3};
  const IndexMap map = permute_map(operand, order);
  for (std::uint64_t i = 0; i < count(result); ++i) {
    const auto r = coordinates(result, i);
    EXPECT_EQ(map(i), flat(operand, {r[1], r[2], r[0]}));
  }
}

TEST(IndexMap, Broadcast) {
  const Sizes operand = {2, 0, 3};
  const Sizes result = {2, 2, 3};
  const IndexMap map = broadcast_map(operand, result);
  for (std::uint64_t i = 0; i < count(result); ++i) {
    const auto r = coordinates(result, i);
    EXPECT_EQ(map(i), flat(operand, {r[0], 0, r[2]}));
  }
}

TEST(IndexMap, SliceAndCoordinate) {
  const Sizes sizes = {2, 3, 1};
  for (int axis = 0; axis < 3; ++axis) {
    Sizes rest = sizes;
    rest.erase(rest.begin() + axis);
    const IndexMap slice = slice_map(sizes, axis);
    const IndexMap coordinate = coordinate_map(sizes, axis);
    for (std::uint64_t i = 0; i < count(sizes); ++i) {
      auto at = coordinates(sizes, i);
      EXPECT_EQ(coordinate(i), at[static_cast<std::size_t>(axis)]);
      at.erase(at.begin() + axis);
      EXPECT_EQ(slice(i), flat(rest, at));
    }
  }
}

TEST(IndexMap, SplitUndoesJoin) {
  const Sizes half = {2, 1};
  for (int h = 0; h < 2; ++h) {
    const IndexMap both = compose(join_map(half), split_map(half, h));
    EXPECT_TRUE(both.is_identity());
    for (std::uint64_t i = 0; i < count(half); ++i)
      EXPECT_EQ(split_map(half, h)(i), 2 * i + static_cast<std::uint64_t>(h));
  }
}

TEST(IndexMap, ComposeIsApplicationInTurn) {
  const Sizes operand = {0, 3};
  const Sizes wide = {2, 3};
  const std::vector<std::int64_t> order = {1, 0};
  const IndexMap inner = broadcast_map(operand, wide);
  const IndexMap outer = permute_map(wide, order);
  const IndexMap both = compose(inner, outer);
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(both(i), inner(outer(i)));
}

}  // namespace
}  // namespace tilewright
