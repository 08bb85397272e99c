// SPDX-License-Identifier: Apache-2.0
// mma_test.cpp — the layouts of tensor-core instructions against the rules of the instruction set,
// and whole products computed by them.
#include "layout/mma.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "layout/convert.h"

namespace tilewright {
namespace {

constexpr MmaShape f16_shape = {.log_rows = 4, .log_columns = 3, .log_depth = 4, .log_word = 1};

TEST(MmaShape, EveryInstructionHas32BytesOfDepth) {
  EXPECT_EQ(MmaShape::of_bytes(2), f16_shape);
  EXPECT_EQ(MmaShape::of_bytes(1),
            (MmaShape{.log_rows = 4, .log_columns = 3, .log_depth = 5, .log_word = 2}));
  EXPECT_EQ(MmaShape::of_bytes(4),
            (MmaShape{.log_rows = 4, .log_columns = 3, .log_depth = 3, .log_word = 0}));
  EXPECT_EQ(MmaShape::of_bytes(8),
            (MmaShape{.log_rows = 3, .log_columns = 3, .log_depth = 2, .log_word = 0}));
}

// A product of one instruction's size on one warp.
ProductLayouts of_one(const MmaShape& shape) {
  return mma_layouts(
      {.rows = shape.log_rows, .columns = shape.log_columns, .depth = shape.log_depth}, shape, {});
}

TEST(MmaLayouts, TheResultOf16By8) {
  const Layout result = of_one(f16_shape).result;
  ASSERT_EQ(result.register_count(), 4);
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t row = lane / 4 + (i < 2 ? 0 : 8);
      const std::uint64_t column = lane % 4 * 2 + i % 2;
      EXPECT_EQ(result.element({i, lane, 0}), row * 8 + column);
    }
}

TEST(MmaLayouts, OperandsOf16Bits) {
  const ProductLayouts layouts = of_one(f16_shape);
  ASSERT_EQ(layouts.left.register_count(), 8);
  ASSERT_EQ(layouts.right.register_count(), 4);
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      const std::uint64_t row = i / 2 % 2 == 0 ? lane / 4 : lane / 4 + 8;
      const std::uint64_t depth = lane % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0);
      EXPECT_EQ(layouts.left.element({i, lane, 0}), row * 16 + depth);
    }
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t depth = lane % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0);
      EXPECT_EQ(layouts.right.element({i, lane, 0}), depth * 8 + lane / 4);
    }
  }
}

// Two instructions have the even and the odd columns of sixteen: a lane holds four in a row.
TEST(MmaLayouts, ColumnsOf8BitsArePaired) {
  const MmaShape shape = MmaShape::of_bytes(1);
  const ProductLayouts layouts =
      mma_layouts({.rows = 4, .columns = 4, .depth = shape.log_depth}, shape, {});
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    for (std::uint64_t i = 0; i < 8; ++i) {
      const std::uint64_t row = lane / 4 * 2 + i / 2 % 2;
      const std::uint64_t column = lane % 4 * 4 + i % 2 * 2 + i / 4;
      EXPECT_EQ(layouts.result.element({i, lane, 0}), row * 16 + column);
      const std::uint64_t depth = lane % 4 * 4 + i % 4;
      EXPECT_EQ(layouts.right.element({i % 4 + i / 4 * 8, lane, 0}),
                depth * 16 + lane / 4 * 2 + i / 4);
    }
}

TEST(MmaLayouts, OperandsOf8Bits) {
  const ProductLayouts layouts = of_one(MmaShape::of_bytes(1));
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    for (std::uint64_t i = 0; i < 16; ++i) {
      const std::uint64_t row = lane / 4 * 2 + i / 4 % 2;
      const std::uint64_t depth = lane % 4 * 4 + i % 4 + (i >= 8 ? 16 : 0);
      EXPECT_EQ(layouts.left.element({i, lane, 0}), row * 32 + depth);
      if (i >= 8) continue;
      const std::uint64_t below = lane % 4 * 4 + i % 4 + (i >= 4 ? 16 : 0);
      EXPECT_EQ(layouts.right.element({i, lane, 0}), below * 8 + lane / 4);
    }
}

TEST(MmaLayouts, OperandsOf32And64Bits) {
  const ProductLayouts tf32 = of_one(MmaShape::of_bytes(4));
  const ProductLayouts f64 = of_one(MmaShape::of_bytes(8));
  ASSERT_EQ(f64.left.register_count(), 1);
  ASSERT_EQ(f64.result.register_count(), 2);
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    for (std::uint64_t i = 0; i < 4; ++i)
      EXPECT_EQ(tf32.left.element({i, lane, 0}), (lane / 4 + i % 2 * 8) * 8 + lane % 4 + i / 2 * 4);
    for (std::uint64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(tf32.right.element({i, lane, 0}), (lane % 4 + i * 4) * 8 + lane / 4);
      EXPECT_EQ(f64.result.element({i, lane, 0}), lane / 4 * 8 + lane % 4 * 2 + i);
    }
    EXPECT_EQ(f64.left.element({0, lane, 0}), lane / 4 * 4 + lane % 4);
    EXPECT_EQ(f64.right.element({0, lane, 0}), lane % 4 * 8 + lane / 4);
  }
}

// Every element of the result that a lane holds is made of operand elements that its warp holds, in
// the registers that the emitter names.
void expect_complete(const ProductSizes& sizes, const MmaShape& shape, int log_warps,
                     bool keeps_rows_whole) {
  const WarpSplit warps = split_warps(sizes, shape, log_warps, keeps_rows_whole);
  EXPECT_EQ(warps.batch + warps.rows + warps.columns + warps.copies, log_warps);
  const ProductLayouts layouts = mma_layouts(sizes, shape, warps);
  for (const Layout* layout : {&layouts.left, &layouts.right, &layouts.result}) {
    EXPECT_TRUE(layout->covers_all());
    EXPECT_EQ(layout->thread_bits(), 5 + log_warps);
    EXPECT_EQ(layout->without_register_copies(), *layout);
  }
  for (std::uint64_t warp = 0; warp < 1u << log_warps; ++warp) {
    std::map<std::uint64_t, int> left, right;
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(layouts.left.register_count()); ++r)
        ++left[layouts.left.element({r, lane, warp})];
      for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(layouts.right.register_count()); ++r)
        ++right[layouts.right.element({r, lane, warp})];
    }
    for (std::uint64_t lane = 0; lane < 32; lane += 7) {
      for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(layouts.result.register_count());
           ++r) {
        const std::uint64_t element = layouts.result.element({r, lane, warp});
        const std::uint64_t column = element & ((1u << sizes.columns) - 1);
        const std::uint64_t row = element >> sizes.columns;  // with the batch above it
        const std::uint64_t batch = row >> sizes.rows;
        for (std::uint64_t k = 0; k < 1u << sizes.depth; k += 5) {
          EXPECT_EQ(left[row << sizes.depth | k], 1);
          EXPECT_EQ(right[(batch << sizes.depth | k) << sizes.columns | column], 1);
        }
      }
    }
  }
}

TEST(MmaLayouts, AWarpHoldsAllThatItsPartOfTheProductNeeds) {
  for (int bytes : {1, 2, 4, 8})
    for (int log_warps = 0; log_warps < 4; ++log_warps)
      for (bool keeps : {false, true}) {
        const MmaShape shape = MmaShape::of_bytes(bytes);
        expect_complete({.rows = 4, .columns = 4, .depth = 5}, shape, log_warps, keeps);
        expect_complete({.rows = 6, .columns = 5, .depth = 5}, shape, log_warps, keeps);
        expect_complete({.batch = 2, .rows = 4, .columns = 5, .depth = 5}, shape, log_warps, keeps);
      }
}

TEST(MmaLayouts, WarpsKeepSquareParts) {
  const WarpSplit square = split_warps({.rows = 7, .columns = 7, .depth = 5}, f16_shape, 3, false);
  EXPECT_EQ(square.rows, 2);
  EXPECT_EQ(square.columns, 1);
  const WarpSplit wide = split_warps({.rows = 7, .columns = 8, .depth = 5}, f16_shape, 2, false);
  EXPECT_EQ(wide.rows, 1);
  EXPECT_EQ(wide.columns, 1);
  const WarpSplit whole = split_warps({.rows = 7, .columns = 6, .depth = 5}, f16_shape, 3, true);
  EXPECT_EQ(whole.rows, 3);
  const WarpSplit small = split_warps({.rows = 4, .columns = 4, .depth = 5}, f16_shape, 3, false);
  EXPECT_EQ(small.columns, 1);
  EXPECT_EQ(small.copies, 2);
}

// Attention: the first product's result is the left operand of the second.
TEST(MmaLayouts, AResultIsALeftOperandWithoutMoving) {
  const WarpSplit warps = {.rows = 2};
  const ProductLayouts first = mma_layouts({.rows = 7, .columns = 6, .depth = 6}, f16_shape, warps);
  const ProductLayouts second =
      mma_layouts({.rows = 7, .columns = 7, .depth = 6}, f16_shape, warps);
  const Conversion plan = plan_conversion(first.result, second.left, IndexMap::identity(13));
  EXPECT_EQ(plan.kind, Conversion::Kind::Registers);
  std::vector<std::uint32_t> sources = plan.source;
  std::sort(sources.begin(), sources.end());
  EXPECT_EQ(std::unique(sources.begin(), sources.end()), sources.end());
}

}  // namespace
}  // namespace tilewright
