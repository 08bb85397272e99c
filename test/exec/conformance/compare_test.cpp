// SPDX-License-Identifier: Apache-2.0
// conformance/compare_test.cpp — the judgement itself: what it lets pass and what it does not.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.h"

namespace tilewright::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<unsigned char> bytes(const std::vector<float>& values) {
  std::vector<unsigned char> out(values.size() * sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string judge(const std::vector<float>& plain, const std::vector<float>& reference,
                  const std::vector<float>& got, double magnitude = 0) {
  const BufferSpec spec{f32, static_cast<std::int64_t>(plain.size()), Fill::Output};
  const auto initial = fill_bytes(spec, 1);
  const auto a = bytes(plain), b = bytes(reference), c = bytes(got);
  return difference({spec, initial, a, reference.empty() ? Bytes() : Bytes(b)}, c, 2, magnitude);
}

const float ulp_of_one = std::ldexp(1.0f, -23);

TEST(ConformanceCompare, FloatsMayBeOffByTwiceTheOwnErrorAndALittle) {
  EXPECT_THAT(judge({1}, {1}, {1 + 2 * ulp_of_one}), IsEmpty());
  EXPECT_THAT(judge({1}, {1}, {1 + 3 * ulp_of_one}),
              HasSubstr("1 of 1 elements of float32 differ"));
  EXPECT_THAT(judge({1 + 2 * ulp_of_one}, {1}, {1 + 6 * ulp_of_one}), IsEmpty());
  EXPECT_THAT(judge({1 + 2 * ulp_of_one}, {1}, {1 + 7 * ulp_of_one}), HasSubstr("[0]"));
}

TEST(ConformanceCompare, LargeElementsDoNotExcuseSmallOnes) {
  const float big = 1 << 20;
  EXPECT_THAT(judge({big + 1, 1}, {big, 1}, {big, 1.5f}), HasSubstr("[1]"));
  EXPECT_THAT(judge({0.5f, 1 << 20}, {0.5f, 1 << 20}, {0.5f, big + 1}), HasSubstr("[1]"));
}

TEST(ConformanceCompare, WhatCancelsHasItsMagnitude) {
  EXPECT_THAT(judge({1e-7f}, {1e-7f}, {2e-7f}), HasSubstr("[0]"));
  EXPECT_THAT(judge({1e-7f}, {1e-7f}, {2e-7f}, 1), IsEmpty());
}

TEST(ConformanceCompare, WithoutReferenceBitsCount) {
  EXPECT_THAT(judge({1}, {}, {1}), IsEmpty());
  EXPECT_THAT(judge({1}, {}, {1 + ulp_of_one}), HasSubstr("[0]"));
  EXPECT_THAT(judge({0.0f}, {}, {-0.0f}), HasSubstr("[0]"));
}

TEST(ConformanceCompare, NanAndInfinityStandAtTheirPlaces) {
  const float nan = std::nanf("");
  EXPECT_THAT(judge({nan, INFINITY}, {nan, INFINITY}, {-nan, INFINITY}), IsEmpty());
  EXPECT_THAT(judge({nan}, {nan}, {1}), HasSubstr("[0]"));
  EXPECT_THAT(judge({1}, {1}, {nan}), HasSubstr("[0]"));
  EXPECT_THAT(judge({INFINITY}, {INFINITY}, {-INFINITY}), HasSubstr("[0]"));
  EXPECT_THAT(judge({1}, {1}, {INFINITY}), HasSubstr("[0]"));
}

TEST(ConformanceCompare, WhatIsNotWrittenKeepsItsBits) {
  const BufferSpec spec{f32, 1, Fill::Output};
  const auto initial = fill_bytes(spec, 1);
  float untouched = 0;
  std::memcpy(&untouched, initial.data(), sizeof untouched);
  const auto got = bytes({std::nextafterf(untouched, 0)});
  EXPECT_THAT(difference({spec, initial, initial, initial}, got, 2, 0), HasSubstr("[0]"));
  EXPECT_THAT(difference({spec, initial, initial, initial}, initial, 2, 0), IsEmpty());
}

}  // namespace
}  // namespace tilewright::conformance
