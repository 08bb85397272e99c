// SPDX-License-Identifier: Apache-2.0
// tensor/shape_test.cpp — products, strides and reach of shapes.
#include "tensor/shape.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "expect_error.h"
#include "tensor/pair.h"

namespace tilewright {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

TEST(Shape, CountsElementsAndRefusesWhatIsNone) {
  EXPECT_EQ(checked_numel({}, 4), 1);
  EXPECT_EQ(checked_numel({2, 3, 4}, 8), 24);
  EXPECT_EQ(checked_numel({2, 0, 4}, 8), 0);
  expect_error<ArgumentError>(
      [] {
        checked_numel({2, -3}, 4);
      },
      "shape [2, -3] has the negative size -3: sizes are 0 or more");
  expect_error<ArgumentError>(
      [] {
        checked_numel({huge, 2}, 1);
      },
      "shape [9223372036854775807, 2] is too large: its bytes do not fit 64 bits");
  expect_error<ArgumentError>(
      [] { checked_numel({huge / 4}, 8); },
      "shape [2305843009213693951] is too large: its bytes do not fit 64 bits");
  // Strides are products too: a 0 elsewhere does not excuse them.
  EXPECT_THROW(checked_numel({0, huge, huge}, 1), ArgumentError);
}

TEST(Shape, StridesOfRowMajorOrder) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Shape{});
  EXPECT_TRUE(is_contiguous({2, 1, 4}, {4, 99, 1}));
  EXPECT_TRUE(is_contiguous({0, 5}, {7, 7}));
  EXPECT_FALSE(is_contiguous({2, 4}, {1, 2}));
  EXPECT_FALSE(is_contiguous({3}, {-1}));
}

TEST(Shape, DimensionsCountFromBothEnds) {
  EXPECT_EQ(wrap_dimension(-1, 3), 2);
  EXPECT_EQ(wrap_dimension(0, 1), 0);
  expect_error<ArgumentError>([] { wrap_dimension(3, 3); },
                              "dimension 3 is out of range for a tensor of rank 3");
  expect_error<ArgumentError>([] { wrap_dimension(0, 0); },
                              "dimension 0 is out of range for a tensor of rank 0");
}

TEST(Shape, ReachOfStridesOfEitherSign) {
  const Reach reach = reach_of({3, 4}, {-8, 2}, 4);
  EXPECT_EQ(reach.low, -16);
  EXPECT_EQ(reach.high, 6);
  EXPECT_EQ(reach_of({0, 4}, {huge, huge}, 8).high, 0);
  EXPECT_EQ(reach_of({1, 4}, {huge, 1}, 8).high, 3);
  expect_error<ArgumentError>(
      [] { reach_of({3}, {huge}, 4); },
      "strides [9223372036854775807] with shape [3] reach further than 64 bits can address");
  EXPECT_THROW(reach_of({2}, {huge / 4}, 8), ArgumentError);
  EXPECT_THROW(reach_of({2, 2}, {huge / 2, huge / 2 + 2}, 1), ArgumentError);
  EXPECT_THROW(reach_of({2}, {std::numeric_limits<std::int64_t>::min()}, 1), ArgumentError);
}

TEST(Shape, OneSizeCanBeLeftOpen) {
  EXPECT_EQ(resolve_shape({-1, 4}, 12), (Shape{3, 4}));
  EXPECT_EQ(resolve_shape({-1}, 0), Shape{0});
  EXPECT_EQ(resolve_shape({}, 1), Shape{});
  expect_error<ArgumentError>(
      [] {
        resolve_shape({-1, -1}, 4);
      },
      "shape [-1, -1] has more than one -1: at most one size can be left open");
  expect_error<ArgumentError>(
      [] {
        resolve_shape({5, -1}, 12);
      },
      "shape [5, -1] does not fit a tensor of 12 elements");
  expect_error<ArgumentError>(
      [] {
        resolve_shape({0, -1}, 0);
      },
      "shape [0, -1] does not fit a tensor of 0 elements");
  expect_error<ArgumentError>([] { resolve_shape({3}, 4); },
                              "shape [3] does not fit a tensor of 4 elements");
}

TEST(Shape, ViewsExistWhereRunsInMemoryAllow) {
  EXPECT_EQ(view_strides({2, 3, 4}, {12, 4, 1}, {6, 4}), (Shape{4, 1}));
  EXPECT_EQ(view_strides({2, 3, 4}, {12, 4, 1}, {2, 1, 12}), (Shape{12, 12, 1}));
  EXPECT_EQ(view_strides({4, 3}, {1, 4}, {2, 2, 3}),
            (Shape{2, 1, 4}));  // splits the first dimension of a transpose
  EXPECT_EQ(view_strides({4, 3}, {1, 4}, {12}), std::nullopt);
  EXPECT_EQ(view_strides({4, 6}, {12, 1}, {2, 12}), std::nullopt);
  EXPECT_EQ(view_strides({3, 4}, {0, 1}, {3, 2, 2}), (Shape{0, 2, 1}));
  EXPECT_EQ(view_strides({1, 1}, {7, 9}, {}), Shape{});
  EXPECT_EQ(view_strides({0, 3}, {3, 1}, {5, 0}), (Shape{1, 1}));
}

TEST(Shape, BroadcastingRepeatsSizesOfOne) {
  EXPECT_EQ(broadcast_strides({3, 1}, {1, 1}, {2, 3, 4}), (Shape{0, 1, 0}));
  expect_error<ArgumentError>(
      [] { broadcast_strides({3}, {1}, {4}); },
      "shape [3] cannot be broadcast to [4]: sizes must be equal or 1, counted from the end");
  EXPECT_THROW(broadcast_strides({1, 3}, {3, 1}, {3}), ArgumentError);
}

TEST(Pair, MergesWhatLiesEvenlyOnBothSides) {
  const Pair dense = make_pair({4, 3, 8}, {24, 8, 1}, {24, 8, 1});
  EXPECT_TRUE(dense.is_dense());
  EXPECT_EQ(dense.count, 96);
  EXPECT_EQ(make_pair({4, 24}, {24, 1}, {1, 4}).dimensions.size(), 2u);
  EXPECT_TRUE(make_pair({4, 24}, {1, 4}, {1, 4}).is_dense());   // both transposed alike
  EXPECT_TRUE(make_pair({5, 1}, {-1, 7}, {-1, 9}).is_dense());  // both walked backwards
  const Pair turned = make_pair({5}, {-1}, {1});
  EXPECT_EQ(turned.destination_shift, -4);
  EXPECT_EQ(turned.source_shift, 4);
  EXPECT_EQ(turned.dimensions[0].source, -1);
  EXPECT_TRUE(make_pair({1, 1}, {3, 4}, {5, 6}).is_dense());
  EXPECT_EQ(make_pair({3, 0}, {1, 1}, {1, 1}).count, 0);
}

// ---- The container: as std::vector, on both sides of what fits in it.

TEST(Shape, HoldsWhatAVectorHolds) {
  for (std::size_t count = 0; count < 12; ++count) {
    Shape shape;
    std::vector<std::int64_t> vector;
    for (std::size_t i = 0; i < count; ++i) {
      shape.push_back(static_cast<std::int64_t>(i * i));
      vector.push_back(static_cast<std::int64_t>(i * i));
    }
    const Shape copied = shape, from_vector = vector;
    Shape taken = std::move(shape);
    EXPECT_TRUE(shape.empty());
    shape = taken;
    EXPECT_EQ(copied, taken);
    EXPECT_EQ(copied, from_vector);
    EXPECT_EQ(std::vector<std::int64_t>(shape), vector);
    EXPECT_EQ(shape == Shape(count, -1), count == 0);
    const auto middle = static_cast<std::ptrdiff_t>(count / 2);
    shape.insert(shape.begin() + middle, {-5, -6});
    vector.insert(vector.begin() + middle, {-5, -6});
    shape.insert(shape.begin(), 7);
    vector.insert(vector.begin(), 7);
    shape.erase(shape.begin() + middle);
    vector.erase(vector.begin() + middle);
    EXPECT_EQ(std::vector<std::int64_t>(shape), vector) << count;
    shape.resize(count + 3, 4);
    vector.resize(count + 3, 4);
    EXPECT_EQ(std::vector<std::int64_t>(shape), vector) << count;
    taken = std::move(shape);
    std::swap(taken, shape);
    EXPECT_EQ(std::vector<std::int64_t>(shape), vector) << count;
    EXPECT_LT(Shape(count, 1), Shape(count + 1, 1));
  }
}

}  // namespace
}  // namespace tilewright
