// SPDX-License-Identifier: Apache-2.0
// codegen/text_test.cpp — names and literals of generated text.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "codegen/text/expressions.h"
#include "codegen/text/names.h"

namespace tilewright {
namespace {

TEST(Names, AreValidAndUnique) {
  Names names;
  EXPECT_EQ(names.make("x"), "x");
  EXPECT_EQ(names.make("x"), "x_2");
  EXPECT_EQ(names.make("x_2"), "x_2_2");
  EXPECT_EQ(names.make("x"), "x_3");
  EXPECT_EQ(names.make("class"), "class_v");
  EXPECT_EQ(names.make("__a__b"), "a_b");
  EXPECT_EQ(names.make("7"), "v7");
  EXPECT_EQ(names.make(""), "v");
  EXPECT_EQ(names.make("", "tile"), "tile");
}

TEST(Literals, ReadBackAsTheSameValue) {
  const auto of = [](DType dtype, ir::AttributeValue value) {
    return literal_text(ir::Type::scalar(dtype), value);
  };
  EXPECT_EQ(of(f32, 0.1), "0.1f");
  EXPECT_EQ(of(f32, 1.0), "1.0f");
  EXPECT_EQ(of(f64, 1e300), "1e+300");
  EXPECT_EQ(of(f32, -std::numeric_limits<double>::infinity()), "-tw::inf<f32>()");
  EXPECT_EQ(of(f64, std::nan("")), "tw::nan<f64>()");
  EXPECT_EQ(of(f16, 1.5), "tw::f16_bits(0x3e00)");
  EXPECT_EQ(of(i32, std::int64_t{-2147483648}), "(-2147483647 - 1)");
  EXPECT_EQ(of(u8, std::int64_t{-1}), "u8(255)");
  EXPECT_EQ(of(b1, std::int64_t{1}), "true");
}

TEST(Literals, AtomsAddParenthesesOnlyWhereNeeded) {
  EXPECT_EQ(atom("x"), "x");
  EXPECT_EQ(atom("a + b"), "(a + b)");
  EXPECT_EQ(atom("(a) + (b)"), "((a) + (b))");
  EXPECT_EQ(atom("(a + b)"), "(a + b)");
  EXPECT_EQ(atom("tw::exp(a + b)"), "tw::exp(a + b)");
  EXPECT_EQ(atom("x[i + 1]"), "x[i + 1]");
  EXPECT_EQ(atom("a < b"), "(a < b)");
  EXPECT_EQ(atom("-1"), "(-1)");
}

}  // namespace
}  // namespace tilewright
