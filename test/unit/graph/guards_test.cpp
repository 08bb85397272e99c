// SPDX-License-Identifier: Apache-2.0
// graph/guards_test.cpp — what tells one plan from another besides dtypes, shapes and strides, and
// tensors that a function refers to, whose contents are those of each call.
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

const Device cpu = Device::cpu();

Tensor random(Shape shape, std::uint64_t seed = 3) {
  return randn(std::move(shape), RandomOptions(f32, cpu).with_seed(seed));
}

bool is_near(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         allclose(a, b, {.relative = 1e-5, .absolute = 1e-5});
}

TEST(Guards, NumbersAreComparedBitForBit) {
  const auto quotient = compile([](Tensor x, double by) { return x / by; });
  const Tensor one = ones({1}, cpu);
  EXPECT_EQ(quotient(one, 0.0).item<float>(), INFINITY);
  EXPECT_EQ(quotient(one, -0.0).item<float>(), -INFINITY);
  quotient(one, NAN);
  quotient(one, NAN);
  EXPECT_EQ(quotient.stats().traces, 3u);
  const auto sum_of = compile([](Tensor x, std::int64_t y) { return x + y; });
  const Tensor zero = zeros({1}, {i64, cpu});
  const std::int64_t large = std::int64_t{1} << 53;
  EXPECT_EQ(sum_of(zero, large).item<std::int64_t>(), large);
  EXPECT_EQ(sum_of(zero, large + 1).item<std::int64_t>(), large + 1);
}

TEST(Guards, TypesOfArguments) {
  const auto scaled = compile([](Tensor x, auto by) { return x * by; });
  const Tensor x = ones({2}, {i64, cpu});
  EXPECT_EQ(scaled(x, 2).dtype(), i64);
  EXPECT_EQ(scaled(x, 2.0).dtype(), f32);
}

TEST(Guards, LengthsOfVectors) {
  const auto difference = [](std::vector<Tensor> a, std::vector<Tensor> b) {
    Tensor total = zeros({2}, cpu);
    for (const Tensor& x : a) total = total + x;
    for (const Tensor& x : b) total = total - x;
    return total;
  };
  const auto compiled = compile(difference);
  const Tensor x = ones({2}, cpu);
  EXPECT_EQ(compiled(std::vector{x, x}, std::vector{x})[0].item<float>(), 1);
  EXPECT_EQ(compiled(std::vector{x}, std::vector{x, x})[0].item<float>(), -1);
}

TEST(Guards, DevicesOfAllArguments) {
  const auto sum_of = compile([](Tensor x, Tensor y) { return x + y; });
  const Tensor x = ones({3}, cpu);
  sum_of(x, x);
  const Tensor elsewhere(Buffer::wrap(reinterpret_cast<void*>(4096), 12, Device::cuda()), f32, {3},
                         {1});
  try {
    sum_of(x, elsewhere);
    FAIL() << "nothing was thrown";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("called with tensors on cpu and cuda:0"));
  }
}

// A function that makes something of a tensor that it refers to: before and after that changes.
template <class Function>
void expect_current(Function function, const Tensor& captured) {
  const Tensor x = random({4});
  const auto compiled = compile(function);
  EXPECT_TRUE(is_near(compiled(x), function(x)));
  captured.copy_from(random(captured.shape(), 9));
  EXPECT_TRUE(is_near(compiled(x), function(x))) << compiled.graph();
  EXPECT_EQ(compiled.stats().traces, 1u);
}

TEST(Captured, WhatIsMadeOfThemIsMadeInEveryCall) {
  const Tensor w = random({4}, 1), m = random({4, 4}, 2);
  expect_current([w](Tensor x) { return x + w * 2.0; }, w);
  expect_current([w](Tensor x) { return x * sum(w) + softmax(w); }, w);
  expect_current([m](Tensor x) { return x + matmul(m, m)[0]; }, m);
  expect_current([w](Tensor x) { return x + w.clone() + w.to(f64).to(f32); }, w);
  expect_current([m](Tensor x) { return x + m.t().contiguous()[1] + m.t().reshape({16})[2]; }, m);
  expect_current([w](Tensor x) { return x + cat({w, w}).slice(0, 2, 6) + pad(w, {1, -1}); }, w);
  expect_current([w](Tensor) { return w; }, w);
  expect_current(
      [w](Tensor x) {
        const Tensor y = zeros({4}, cpu);
        y.copy_from(w);
        return x + y;
      },
      w);
  expect_current([w](Tensor x) { return x + grad([](Tensor p) { return sum(p * p); })(w); }, w);
}

TEST(Captured, AValueOfThemAloneHasNoDerivative) {
  const Tensor w = random({}, 1);
  const auto derivative = compile([w](Tensor x) { return grad([w](Tensor) { return w; })(x); });
  EXPECT_TRUE(is_near(derivative(random({3})), zeros({3}, cpu)));
}

// An address of a launch that is replayed says whose memory it is only as long as no two share it.
TEST(Captured, OneThatIsAlsoAnArgumentIsNotReplayed) {
  const Tensor w = random({4}, 1), x = random({4}, 2);
  const auto function = [w](Tensor v) { return v * 10.0 + w; };
  const auto compiled = compile(function, {.mode = Mode::ReduceOverhead});
  EXPECT_TRUE(is_near(compiled(w), function(w)));
  EXPECT_TRUE(is_near(compiled(x), function(x)));
  EXPECT_THAT(compiled.explain(), testing::HasSubstr("not replayed: an argument lies in the memory "
                                                     "of a tensor that it refers to"));
}

}  // namespace
}  // namespace tilewright
