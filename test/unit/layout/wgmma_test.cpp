// SPDX-License-Identifier: Apache-2.0
// wgmma_test.cpp — descriptors of operands: what an instruction reads by one is the element that the index map says.
#include "layout/wgmma.h"

#include <vector>

#include <gtest/gtest.h>

#include "layout/mma.h"
#include "layout/swizzle.h"

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

// Where an instruction reads an element, in bytes from the operand's begin, as the instruction set says it.
std::uint64_t decoded(const WgmmaOperand& operand, std::uint64_t across, std::uint64_t depth, std::uint64_t bytes) {
  const auto line = static_cast<std::uint64_t>(operand.line_bytes);
  const auto leading = static_cast<std::uint64_t>(operand.leading_bytes);
  const auto stride = static_cast<std::uint64_t>(operand.stride_bytes);
  const std::uint64_t per_line = line / bytes;
  const std::uint64_t at = operand.is_transposed
                               ? across % per_line * bytes + across / per_line * leading + depth % 8 * line + depth / 8 * stride
                               : depth * bytes + across % 8 * line + across / 8 * stride;
  return at;
}
std::uint64_t swizzled(std::uint64_t at, int line_bytes) {
  return at ^ (at >> 7 & static_cast<std::uint64_t>(line_bytes / 16 - 1)) << 4;
}

struct Shape {
  int across, depth, instruction;
  bool is_left;
  int bytes;
};

void expect_every_element(const Shape& shape, int contiguous) {
  SCOPED_TRACE(testing::Message() << shape.across << " x " << shape.depth << ", left " << shape.is_left << ", bytes " << shape.bytes
                                  << ", contiguous " << contiguous);
  const Sizes sizes = shape.is_left ? Sizes{std::uint8_t(shape.across), std::uint8_t(shape.depth)}
                                    : Sizes{std::uint8_t(shape.depth), std::uint8_t(shape.across)};
  const Swizzle panels = Swizzle::panels(sizes, contiguous, shape.bytes);
  ASSERT_TRUE(panels.matrix.is_invertible());
  const IndexMap map = panels(IndexMap::identity(shape.across + shape.depth));
  const OperandIndex index = shape.is_left ? OperandIndex{0, shape.depth, shape.depth, shape.across, shape.instruction}
                                           : OperandIndex{shape.across, shape.depth, 0, shape.across, shape.instruction};
  const auto operand = describe_wgmma_operand(map, index, shape.bytes);
  const bool is_along_depth = (contiguous == 1) == shape.is_left;
  if (!is_along_depth && shape.bytes != 2) {
    EXPECT_FALSE(operand);
    return;
  }
  ASSERT_TRUE(operand);
  EXPECT_EQ(operand->is_transposed, !is_along_depth);
  const auto bytes = static_cast<std::uint64_t>(shape.bytes);
  const std::uint64_t step = 32 / bytes, group = std::uint64_t{1} << shape.instruction;
  for (std::uint64_t across = 0; across < std::uint64_t{1} << shape.across; ++across)
    for (std::uint64_t depth = 0; depth < std::uint64_t{1} << shape.depth; ++depth) {
      const auto place = [&](std::uint64_t a, std::uint64_t d) { return map((a << index.across_low) ^ (d << index.depth_low)) * bytes; };
      // Steps and groups are added to where the operand begins; they are places without a swizzle.
      const std::uint64_t begin = place(across / group * group, 0) + place(0, depth / step * step);
      const std::uint64_t at = swizzled(begin + decoded(*operand, across % group, depth % step, bytes), operand->line_bytes);
      ASSERT_EQ(at, place(across, depth)) << "element " << across << ", " << depth;
    }
}

TEST(WgmmaOperand, EveryElementIsReadWhereItLies) {
  for (const int bytes : {1, 2, 4})
    for (const int contiguous : {0, 1}) {
      const int log_bytes = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
      for (int depth = 5 - log_bytes; depth <= 8 - log_bytes; ++depth) {
        for (int rows = 6; rows <= 8; ++rows) expect_every_element({rows, depth, 6, true, bytes}, contiguous);
        for (int columns = 4; columns <= 9; ++columns)
          if (!(contiguous == 1 && bytes == 2 && columns < 4))
            expect_every_element({columns, depth, std::min(columns, 8), false, bytes}, contiguous);
      }
    }
}

// A tile as ldmatrix likes it, with lines of 256 bytes, is none that a descriptor can say.
TEST(WgmmaOperand, LongLinesAreRefused) {
  const Sizes sizes = {6, 7};
  const IndexMap lines = Swizzle::lines(sizes, 1, 2)(IndexMap::identity(13));
  EXPECT_FALSE(describe_wgmma_operand(lines, {0, 7, 7, 6, 6}, 2));
  const IndexMap none = Swizzle::none(sizes)(IndexMap::identity(13));
  EXPECT_FALSE(describe_wgmma_operand(none, {0, 7, 7, 6, 6}, 2));
}

// Warps of a warpgroup have 16 rows in turn, as the instruction deals them out; further ones the next 64.
TEST(WgmmaLayouts, RowsOfWarpgroups) {
  const MmaShape shape = MmaShape::of_bytes(2);
  const ProductSizes sizes{.rows = 7, .columns = 6, .depth = 5};
  for (const int log_warps : {2, 3}) {
    const Layout result = mma_layouts(sizes, shape, split_warpgroups(sizes, log_warps)).result;
    EXPECT_TRUE(result.covers_all());
    for (std::uint64_t warp = 0; warp < std::uint64_t{1} << log_warps; ++warp)
      for (std::uint64_t lane = 0; lane < 32; ++lane)
        for (std::uint64_t i = 0; i < 32; ++i) {
          const std::uint64_t row = warp % 4 * 16 + warp / 4 * 64 + lane / 4 + i / 2 % 2 * 8;
          const std::uint64_t column = i / 4 * 8 + lane % 4 * 2 + i % 2;
          EXPECT_EQ(result.element({i, lane, warp}), row * 64 + column);
        }
  }
}

// Fewer rows than warpgroups have: the columns are split.
TEST(WgmmaLayouts, ColumnsAreSplitWhereRowsAreNot) {
  const WarpSplit split = split_warpgroups({.rows = 6, .columns = 5, .depth = 4}, 4);
  EXPECT_EQ(split.rows, 2);
  EXPECT_EQ(split.columns, 2);
  EXPECT_EQ(split.copies, 0);
}

}  // namespace
}  // namespace tilewright
