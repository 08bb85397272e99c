// SPDX-License-Identifier: Apache-2.0
// swizzle_test.cpp — places in shared memory: one each, whole runs, and no two in the same banks.
#include "layout/swizzle.h"

#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

TEST(Swizzle, NoneIsRowMajorOrder) {
  const Sizes sizes = {3, 5};
  const Swizzle none = Swizzle::none(sizes);
  EXPECT_EQ(none.matrix, BitMatrix::identity(8));
  EXPECT_EQ(none.contiguous, 1);
  EXPECT_EQ(none.log_run, 5);
  EXPECT_EQ(Swizzle::none(Sizes{}).matrix.columns(), 0);
}

TEST(Swizzle, EveryElementHasItsOwnPlace) {
  for (const Sizes& sizes : {Sizes{4, 4}, Sizes{7, 5}, Sizes{1, 6}, Sizes{6, 1}, Sizes{2, 4, 5}})
    for (int contiguous = 0; contiguous < static_cast<int>(sizes.size()); ++contiguous)
      for (int bytes : {1, 2, 4, 8}) {
        EXPECT_TRUE(Swizzle::lines(sizes, contiguous, bytes).matrix.is_invertible());
        EXPECT_TRUE(Swizzle::crossed_lines(sizes, contiguous, bytes).matrix.is_invertible());
      }
}

// Eight threads that read one element each, four lines apart, from eight groups of banks.
TEST(Swizzle, LinesThatAreReadAcrossAreInEightGroupsOfBanks) {
  for (const Sizes& sizes : {Sizes{3, 9}, Sizes{5, 7}, Sizes{6, 6}}) {
    const Swizzle swizzle = Swizzle::crossed_lines(sizes, 0, 4);
    const std::uint64_t columns = std::uint64_t{1} << sizes[1];
    for (std::uint64_t row : {0, 5})
      for (std::uint64_t own = 0; own < 4; ++own) {
        std::set<std::uint64_t> groups;
        for (std::uint64_t thread = 0; thread < 8; ++thread)
          groups.insert(swizzle.matrix(row * columns + thread * 4 + own) / 4 % 8);
        EXPECT_EQ(groups.size(), 8u);
      }
  }
}

TEST(Swizzle, NeighboursOfARunStayNeighbours) {
  const Sizes sizes = {5, 6};
  for (int contiguous : {0, 1})
    for (int bytes : {1, 2, 4, 8}) {
      const Swizzle swizzle = Swizzle::lines(sizes, contiguous, bytes);
      EXPECT_EQ(bytes << swizzle.log_run, 16);
      const std::uint64_t step = contiguous == 1 ? 1 : 64;
      const std::uint64_t other = contiguous == 1 ? 64 : 1;
      for (std::uint64_t line = 0; line < 8; ++line) {
        const std::uint64_t first = swizzle.matrix(line * other);
        for (std::uint64_t i = 0; i < 1u << swizzle.log_run; ++i)
          EXPECT_EQ(swizzle.matrix(line * other + i * step), first + i);
      }
    }
}

// Groups of four banks of the chunks at (line, chunk).
std::uint64_t bank_group(const Swizzle& swizzle, const Sizes& sizes, int bytes, std::uint64_t line,
                         std::uint64_t chunk) {
  const std::uint64_t columns = std::uint64_t{1} << sizes[1];
  const std::uint64_t rows = std::uint64_t{1} << sizes[0];
  const std::uint64_t first = chunk << swizzle.log_run;
  const std::uint64_t index =
      swizzle.contiguous == 1 ? line % rows * columns + first : first * columns + line % columns;
  return swizzle.matrix(index) * static_cast<std::uint64_t>(bytes) / 16 % 8;
}

TEST(Swizzle, EightLinesOfOneColumnAreInEightGroupsOfBanks) {
  for (const Sizes& sizes : {Sizes{4, 4}, Sizes{7, 5}, Sizes{6, 6}, Sizes{7, 7}, Sizes{4, 3}})
    for (int contiguous : {0, 1})
      for (int bytes : {1, 2, 4}) {
        const Swizzle swizzle = Swizzle::lines(sizes, contiguous, bytes);
        const int along = sizes[static_cast<std::size_t>(contiguous)];
        const int lines = sizes[static_cast<std::size_t>(1 - contiguous)];
        // Lines of less than 16 bytes share chunks.
        if (lines < 3 || bytes << along < 16) continue;
        for (std::uint64_t chunk = 0; chunk < 1u << (along - swizzle.log_run); ++chunk)
          for (std::uint64_t first = 0; first < 1u << lines; first += 8) {
            std::set<std::uint64_t> groups;
            for (std::uint64_t i = 0; i < 8; ++i)
              groups.insert(bank_group(swizzle, sizes, bytes, first + i, chunk));
            EXPECT_EQ(groups.size(), 8u) << bytes << " along " << along;
          }
      }
}

// Lines of bytes along the columns of a matrix, and every second one of those along its rows.
TEST(Swizzle, LinesOfBytesThatAreReadInPairs) {
  const Sizes sizes = {5, 7};
  const Swizzle swizzle = Swizzle::lines(sizes, 1, 1);
  for (const std::vector<std::uint64_t>& lines :
       {std::vector<std::uint64_t>{0, 1, 4, 5, 8, 9, 12, 13}, {0, 2, 4, 6, 8, 10, 12, 14}})
    for (std::uint64_t chunk = 0; chunk < 8; ++chunk) {
      std::set<std::uint64_t> groups;
      for (std::uint64_t line : lines)
        groups.insert(bank_group(swizzle, sizes, 1, line + 16, chunk));
      EXPECT_EQ(groups.size(), 8u);
    }
}

// Eight elements of four bytes each of four lines.
TEST(Swizzle, TwoChunksOfFourLinesOfWords) {
  const Sizes sizes = {5, 6};
  const Swizzle swizzle = Swizzle::lines(sizes, 1, 4);
  for (std::uint64_t first = 0; first < 32; first += 4)
    for (std::uint64_t chunk = 0; chunk < 16; chunk += 2) {
      std::set<std::uint64_t> groups;
      for (std::uint64_t i = 0; i < 8; ++i)
        groups.insert(bank_group(swizzle, sizes, 4, first + i / 2, chunk + i % 2));
      EXPECT_EQ(groups.size(), 8u);
    }
}

TEST(Swizzle, ALineIsWrittenWithoutConflicts) {
  const Sizes sizes = {5, 6};
  const Swizzle swizzle = Swizzle::lines(sizes, 1, 2);
  for (std::uint64_t line = 0; line < 32; ++line) {
    std::set<std::uint64_t> groups;
    for (std::uint64_t chunk = 0; chunk < 8; ++chunk)
      groups.insert(bank_group(swizzle, sizes, 2, line, chunk));
    EXPECT_EQ(groups.size(), 8u);
  }
}

TEST(Swizzle, TheMapIsKnownInWords) {
  // 64-byte lines of f16: two lines share 128 bytes, so that pairs of lines count.
  const Swizzle swizzle = Swizzle::lines(Sizes{3, 5}, 1, 2);
  const auto place = [&](std::uint64_t row, std::uint64_t column) {
    return swizzle.matrix(row * 32 + column);
  };
  EXPECT_EQ(place(0, 8), 8u);
  EXPECT_EQ(place(1, 8), 32u + 8);
  EXPECT_EQ(place(2, 0), 64u + 8);
  EXPECT_EQ(place(2, 9), 64u + 1);
  EXPECT_EQ(place(6, 0), 192u + 24);
}

}  // namespace
}  // namespace tilewright
