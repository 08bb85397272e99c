// SPDX-License-Identifier: Apache-2.0
// layout/bit_matrix_test.cpp — algebra of bit matrices, over random ones.
#include "layout/bit_matrix.h"

#include <random>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

BitMatrix random_matrix(std::mt19937_64& random, int rows, int columns) {
  std::vector<std::uint64_t> out;
  for (int j = 0; j < columns; ++j) out.push_back(random() & ((std::uint64_t{1} << rows) - 1));
  return {rows, std::move(out)};
}

TEST(BitMatrix, AppliesColumnsByExclusiveOr) {
  const BitMatrix m(3, {0b001, 0b011, 0b100});
  EXPECT_EQ(m(0), 0u);
  EXPECT_EQ(m(0b010), 0b011u);
  EXPECT_EQ(m(0b011), 0b010u);
  EXPECT_EQ(m(0b111), 0b110u);
  EXPECT_EQ(m.to_string(), "0 0 1\n0 1 0\n1 1 0\n");
}

TEST(BitMatrix, ProductIsComposition) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    const BitMatrix a = random_matrix(random, 5, 7);
    const BitMatrix b = random_matrix(random, 7, 4);
    const BitMatrix c = random_matrix(random, 4, 6);
    for (std::uint64_t x = 0; x < 16; ++x) EXPECT_EQ((a * b)(x), a(b(x)));
    EXPECT_EQ((a * b) * c, a * (b * c));
  }
}

TEST(BitMatrix, SolvesExactlyTheImages) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100; ++i) {
    const BitMatrix m = random_matrix(random, 5, 5);
    std::vector<bool> is_image(32);
    for (std::uint64_t x = 0; x < 32; ++x) is_image[m(x)] = true;
    int images = 0;
    for (std::uint64_t y = 0; y < 32; ++y) {
      const auto x = m.solve(y);
      EXPECT_EQ(x.has_value(), is_image[y]);
      if (x) {
        EXPECT_EQ(m(*x), y);
      }
      images += is_image[y];
    }
    EXPECT_EQ(images, 1 << m.rank());
  }
}

TEST(BitMatrix, RightInverseOfSurjections) {
  std::mt19937_64 random(3);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    const BitMatrix m = random_matrix(random, 5, 7);
    const auto inverse = m.right_inverse();
    ASSERT_EQ(inverse.has_value(), m.is_surjective());
    if (!inverse) continue;
    ++found;
    EXPECT_EQ(m * *inverse, BitMatrix::identity(5));
  }
  EXPECT_GT(found, 100);
}

TEST(BitMatrix, InverseOfInvertibleIsTwoSided) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200; ++i) {
    const BitMatrix m = random_matrix(random, 6, 6);
    if (m.is_invertible()) {
      EXPECT_EQ(*m.right_inverse() * m, BitMatrix::identity(6));
    }
  }
}

TEST(BitMatrix, BitSelections) {
  EXPECT_TRUE(BitMatrix::identity(4).is_bit_selection());
  EXPECT_TRUE(BitMatrix::zero(4, 3).is_bit_selection());
  EXPECT_TRUE(BitMatrix(3, {0b100, 0, 0b001}).is_bit_selection());
  EXPECT_FALSE(BitMatrix(3, {0b110, 0b001}).is_bit_selection());
  EXPECT_FALSE(BitMatrix(3, {0b100, 0b100}).is_bit_selection());
}

}  // namespace
}  // namespace tilewright
