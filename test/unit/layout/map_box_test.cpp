// SPDX-License-Identifier: Apache-2.0
// map_box_test.cpp — boxes of tensor maps: copied box by box as the machine copies, every element
// is where the array has it; an array that is another by one bit has no box.
#include "layout/map_box.h"

#include <vector>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

// A box line by line, as the instruction set says it: chunks of 16 bytes of a period of eight times
// 128 bytes are exchanged by the number of their 128 bytes.
std::uint64_t place_in_box(std::uint64_t byte, std::uint64_t line, const MapBox& box, int bytes) {
  const auto width = static_cast<std::uint64_t>(box.line * bytes);
  const std::uint64_t at = line * width + byte;
  switch (box.swizzle_bytes) {
    case 128:
      return at ^ (at / 128 % 8) * 16;
    case 64:
      return at ^ (at / 128 % 4) * 16;
    case 32:
      return at ^ (at / 128 % 2) * 16;
  }
  ADD_FAILURE() << "a swizzle of " << box.swizzle_bytes << " bytes";
  return 0;
}

// Panels one after the other, each of boxes one after the other.
std::uint64_t place_of(std::uint64_t x, std::uint64_t y, std::uint64_t all_lines, const MapBox& box,
                       int bytes) {
  const auto width = static_cast<std::uint64_t>(box.line),
             lines = static_cast<std::uint64_t>(box.lines);
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::uint64_t panel = x / width * all_lines * width * size;
  const std::uint64_t before = y / lines * lines * width * size;
  return panel + before + place_in_box(x % width * size, y % lines, box, bytes);
}

// The number of elements that a copy by `box` puts elsewhere.
int misplaced(const Sizes& sizes, const Swizzle& swizzle, const MapBox& box, int bytes) {
  const auto fast = static_cast<std::size_t>(swizzle.contiguous), slow = 1 - fast;
  const std::uint64_t all_lines = std::uint64_t{1} << sizes[slow];
  int count = 0;
  for (std::uint64_t y = 0; y < all_lines; ++y)
    for (std::uint64_t x = 0; x < std::uint64_t{1} << sizes[fast]; ++x) {
      const std::uint64_t index = x << first_bit(sizes, static_cast<int>(fast)) |
                                  y << first_bit(sizes, static_cast<int>(slow));
      const std::uint64_t want = swizzle.matrix(index) * static_cast<std::uint64_t>(bytes);
      count += place_of(x, y, all_lines, box, bytes) != want;
    }
  return count;
}

template <typename Use>
void for_all_panels(const Use& use) {
  for (const int bytes : {1, 2, 4, 8})
    for (const int contiguous : {0, 1})
      for (std::uint8_t fast = 2; fast <= 9; ++fast)
        for (std::uint8_t slow = 0; slow <= 9; ++slow) {
          const Sizes sizes = contiguous == 1 ? Sizes{slow, fast} : Sizes{fast, slow};
          SCOPED_TRACE(testing::Message()
                       << "log2 of lines " << int(slow) << ", of a line " << int(fast) << ", bytes "
                       << bytes << ", contiguous " << contiguous);
          use(sizes, Swizzle::panels(sizes, contiguous, bytes), bytes, bytes << fast);
        }
}

TEST(MapBox, CopiesPanels) {
  int boxes = 0;
  for_all_panels([&](const Sizes& sizes, const Swizzle& panels, int bytes, int line_bytes) {
    const auto box = find_map_box(sizes, panels, bytes);
    EXPECT_EQ(box.has_value(), line_bytes >= 32);
    if (!box) return;
    ++boxes;
    EXPECT_LE(box->lines, 256);
    EXPECT_LE(box->line * bytes, box->swizzle_bytes);
    EXPECT_EQ(misplaced(sizes, panels, *box, bytes), 0);
  });
  EXPECT_GT(boxes, 400);
}

// Each bit of each column of the matrix turned in turn.
TEST(MapBox, NoBoxForAnotherArray) {
  int refused = 0;
  for_all_panels([&](const Sizes& sizes, const Swizzle& panels, int bytes, int line_bytes) {
    if (line_bytes < 32 || sizes[0] + sizes[1] > 12) return;
    for (int column = 0; column < panels.matrix.columns(); ++column)
      for (int bit = 0; bit < panels.matrix.rows(); ++bit) {
        std::vector<std::uint64_t> columns(panels.matrix.all_columns().begin(),
                                           panels.matrix.all_columns().end());
        columns[static_cast<std::size_t>(column)] ^= std::uint64_t{1} << bit;
        Swizzle other = panels;
        other.matrix = BitMatrix(panels.matrix.rows(), std::move(columns));
        EXPECT_FALSE(find_map_box(sizes, other, bytes));
        ++refused;
      }
  });
  EXPECT_GT(refused, 1000);
}

TEST(MapBox, NoBoxForOtherRanks) {
  EXPECT_FALSE(find_map_box(Sizes{6}, Swizzle::none(Sizes{6}), 2));
  EXPECT_FALSE(find_map_box(Sizes{2, 6, 6}, Swizzle::none(Sizes{2, 6, 6}), 2));
}

}  // namespace
}  // namespace tilewright
