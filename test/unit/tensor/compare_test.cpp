// SPDX-License-Identifier: Apache-2.0
// tensor/compare_test.cpp — allclose and max_abs_error: tolerances, NaN, infinities, wide integers.
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "expect_error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

TEST(Compare, WithinTolerance) {
  const Tensor a = tensor({1.0f, 100.0f}, cpu);
  EXPECT_TRUE(allclose(a, tensor({1.0, 100.0005}, cpu)));
  EXPECT_FALSE(allclose(a, tensor({1.0, 100.01}, cpu)));
  EXPECT_TRUE(allclose(a, tensor({1.5, 100.0}, cpu), {.relative = 0, .absolute = 0.5}));
  EXPECT_FALSE(allclose(a, tensor({1.5, 100.0}, cpu), {.relative = 0, .absolute = 0.499}));
  EXPECT_TRUE(allclose(zeros({0, 3}, cpu), zeros({0, 3}, cpu)));
  EXPECT_EQ(max_abs_error(a, tensor({1.5, 99.0}, cpu)), 1.0);
  EXPECT_EQ(max_abs_error(zeros({0}, cpu), zeros({0}, cpu)), 0);
}

TEST(Compare, LooksAtEveryElementOfAnyLayout) {
  for (const std::int64_t size : {1, 1023, 1024, 1025, 5000}) {
    const Tensor a = zeros({size, 2}, cpu);
    const Tensor b = zeros({2, size}, {DType::Float64, cpu}).t();
    EXPECT_TRUE(allclose(a, b));
    b.select(0, size - 1).select(0, 1).fill(0.25);
    EXPECT_FALSE(allclose(a, b));
    EXPECT_EQ(max_abs_error(a, b), 0.25);
  }
}

TEST(Compare, NanAndInfinity) {
  const double inf = INFINITY;
  const Tensor a = tensor({1.0, static_cast<double>(NAN), inf, -inf}, cpu);
  EXPECT_FALSE(allclose(a, a));
  EXPECT_TRUE(allclose(a, a, {.equal_nan = true}));
  EXPECT_EQ(max_abs_error(a, a), 0);
  EXPECT_TRUE(std::isnan(max_abs_error(a, ones({4}, cpu))));
  EXPECT_FALSE(
      allclose(a, ones({4}, cpu), {.relative = 1e300, .absolute = 1e300, .equal_nan = true}));
  EXPECT_EQ(max_abs_error(tensor({inf}, cpu), tensor({-inf}, cpu)), inf);
  EXPECT_EQ(max_abs_error(tensor({inf}, cpu), tensor({1.0}, cpu)), inf);
  EXPECT_FALSE(allclose(tensor({inf}, cpu), tensor({1e300}, cpu), {.relative = 10}));
}

TEST(Compare, IntegersBeyondFloat64) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  EXPECT_EQ(max_abs_error(tensor({large}, cpu), tensor({large - 1}, cpu)), 1);
  EXPECT_FALSE(
      allclose(tensor({large}, cpu), tensor({large - 1}, cpu), {.relative = 0, .absolute = 0}));
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(max_abs_error(tensor({most}, cpu), tensor({most - 3}, cpu)), 3);
  EXPECT_EQ(max_abs_error(tensor({std::numeric_limits<std::int64_t>::min()}, cpu),
                          tensor({std::numeric_limits<std::int64_t>::max()}, cpu)),
            0x1p64);
  EXPECT_EQ(max_abs_error(tensor({large}, cpu), tensor({0x1p60}, cpu)), 1);
}

TEST(Compare, ShapesMustBeEqual) {
  expect_error<ArgumentError>(
      [] {
        allclose(zeros({2}, cpu), zeros({2, 1}, cpu));
      },
      "allclose needs tensors of the same shape, got [2] and [2, 1]");
  expect_error<ArgumentError>([] { max_abs_error(zeros({2}, cpu), zeros({3}, cpu)); },
                              "max_abs_error needs tensors of the same shape, got [2] and [3]");
}

}  // namespace
}  // namespace tilewright
