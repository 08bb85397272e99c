// SPDX-License-Identifier: Apache-2.0
// base/dtype_test.cpp — names, sizes and the exact rounding of the small floats.
#include "tilewright/dtype.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(DType, NamesParseBack) {
  for (int i = 0; i < dtype_count; ++i) {
    const DType dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  }
  EXPECT_EQ(parse_dtype("bf16"), bf16);
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), f8e4m3);
  EXPECT_EQ(parse_dtype("fp32"), f32);
  EXPECT_EQ(parse_dtype("fp16"), f16);
  EXPECT_EQ(parse_dtype("fp8e4nv"), f8e4m3);
  EXPECT_EQ(parse_dtype("i1"), b1);
}

TEST(DType, UnknownNameSuggestsTheNearest) {
  try {
    parse_dtype("flaot32");
    FAIL() << "must throw";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(),
                testing::StartsWith("unknown element type 'flaot32'; did you mean 'float32'"));
  }
}

// Every bit pattern of a small float must survive the way to float and back.
template <class Widen, class Narrow>
void expect_round_trip(int bits, Widen widen, Narrow narrow) {
  for (std::uint32_t pattern = 0; pattern < (1u << bits); ++pattern) {
    const float value = widen(pattern);
    const std::uint32_t back = narrow(value);
    if (std::isnan(value)) EXPECT_TRUE(std::isnan(widen(back))) << pattern;
    else EXPECT_EQ(back, pattern);
  }
}

TEST(DType, EveryPatternRoundTrips) {
  expect_round_trip(
      16, [](auto b) { return half_to_float(static_cast<std::uint16_t>(b)); }, float_to_half);
  expect_round_trip(
      16, [](auto b) { return bfloat16_to_float(static_cast<std::uint16_t>(b)); },
      float_to_bfloat16);
  expect_round_trip(
      8, [](auto b) { return float8_e4m3_to_float(static_cast<std::uint8_t>(b)); },
      float_to_float8_e4m3);
  expect_round_trip(
      8, [](auto b) { return float8_e5m2_to_float(static_cast<std::uint8_t>(b)); },
      float_to_float8_e5m2);
}

// Between two neighbours the nearer one is taken, and the even one from the middle.
template <class Widen, class Narrow>
void expect_nearest_even(std::uint32_t largest_finite, Widen widen, Narrow narrow) {
  for (std::uint32_t pattern = 0; pattern < largest_finite; ++pattern) {
    const float low = widen(pattern);
    const float high = widen(pattern + 1);
    const float middle = low + (high - low) / 2;  // exact in float32
    EXPECT_EQ(narrow(middle), pattern % 2 == 0 ? pattern : pattern + 1) << pattern;
    EXPECT_EQ(narrow(std::nextafter(middle, 0.0f)), pattern) << pattern;
    EXPECT_EQ(narrow(std::nextafter(middle, std::numeric_limits<float>::infinity())), pattern + 1)
        << pattern;
  }
}

TEST(DType, RoundsToNearestEven) {
  expect_nearest_even(
      0x7bff, [](auto b) { return half_to_float(static_cast<std::uint16_t>(b)); }, float_to_half);
  expect_nearest_even(
      0x7e, [](auto b) { return float8_e4m3_to_float(static_cast<std::uint8_t>(b)); },
      float_to_float8_e4m3);
  expect_nearest_even(
      0x7b, [](auto b) { return float8_e5m2_to_float(static_cast<std::uint8_t>(b)); },
      float_to_float8_e5m2);
}

TEST(DType, KnownValues) {
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(half_to_float(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(float_to_bfloat16(1.0f), 0x3f80);
  EXPECT_EQ(float8_e4m3_to_float(0x7e), 448.0f);
  EXPECT_EQ(float_to_float8_e4m3(1000.0f), 0x7f);
  EXPECT_EQ(float_to_float8_e5m2(1e6f), 0x7c);
  EXPECT_EQ(std::signbit(half_to_float(0x8000)), true);
}

}  // namespace
}  // namespace tilewright
