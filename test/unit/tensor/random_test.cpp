// SPDX-License-Identifier: Apache-2.0
// tensor/random_test.cpp — Philox against its published vectors, the distributions, seeds and the
// shared generator.
#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "expect_error.h"
#include "tensor/device/random.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

RandomOptions seeded(DType dtype, std::uint64_t seed) {
  return RandomOptions(dtype, cpu).with_seed(seed);
}

void expect_words(const element::Words& got, const element::Words& expected) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got.v[i], expected.v[i]) << "word " << i;
}

TEST(Philox, PublishedVectors) {
  constexpr unsigned int ones = 0xffffffffu;
  expect_words(element::philox({{0, 0, 0, 0}}, 0, 0),
               {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect_words(element::philox({{ones, ones, ones, ones}}, ones, ones),
               {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect_words(
      element::philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
      {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Rand, IsTheTopBitsOfTheWords) {
  const std::vector<float> f = rand({7}, seeded(DType::Float32, 0)).to_vector<float>();
  EXPECT_EQ(f[0], static_cast<float>(0x6627e8) / 16777216.0f);
  EXPECT_EQ(f[3], static_cast<float>(0x9b00db) / 16777216.0f);
  const std::vector<double> d = rand({3}, seeded(DType::Float64, 0)).to_vector<double>();
  EXPECT_EQ(d[0], static_cast<double>(0xe169c58d6627e8d5u >> 11) / 9007199254740992.0);
  EXPECT_EQ(d[1], static_cast<double>(0x9b00dbd8bc57ac4cu >> 11) / 9007199254740992.0);
}

TEST(Rand, ElementsDependOnTheirIndexOnly) {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Float16, DType::Float8E4M3}) {
    const Tensor large = rand({100003}, seeded(dtype, 11));
    const Tensor normal = randn({100003}, seeded(dtype, 11));
    for (const std::int64_t size : {0, 1, 2, 3, 5, 1000, 65537}) {
      EXPECT_EQ(max_abs_error(rand({size}, seeded(dtype, 11)), large.slice(0, 0, size)), 0)
          << name_of(dtype);
      EXPECT_EQ(max_abs_error(randn({size}, seeded(dtype, 11)), normal.slice(0, 0, size)), 0)
          << name_of(dtype);
    }
    EXPECT_EQ(max_abs_error(rand({7, 9}, seeded(dtype, 11)).view({63}), large.slice(0, 0, 63)), 0);
  }
}

// The largest distance between the numbers' distribution and the true one, times the square root of
// their count: above 1.95 in one of a thousand fair draws.
template <class Distribution>
double kolmogorov_smirnov(std::vector<double> values, const Distribution& distribution) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = distribution(values[i]);
    worst = std::max({worst, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return worst * std::sqrt(n);
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values)
    m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  return m;
}

TEST(Rand, IsUniform) {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16}) {
    const std::vector<double> values =
        rand({200000}, seeded(dtype, 5)).to(DType::Float64).to_vector<double>();
    const Moments m = moments_of(values);
    EXPECT_NEAR(m.mean, 0.5, 0.004) << name_of(dtype);
    EXPECT_NEAR(m.variance, 1.0 / 12, 0.002) << name_of(dtype);
    EXPECT_GE(*std::min_element(values.begin(), values.end()), 0);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 1);
    if (size_of(dtype) >= 4) {
      EXPECT_LT(kolmogorov_smirnov(values, [](double x) { return x; }), 1.95) << name_of(dtype);
    }
  }
}

TEST(Rand, SmallFloatsNeverReachOne) {
  const float top = 16777215.0f / 16777216.0f;
  EXPECT_EQ(element::wide(element::round_below_one<element::Float16>(top)), 1.0f - 0x1p-11f);
  EXPECT_EQ(element::wide(element::round_below_one<element::BFloat16>(top)), 1.0f - 0x1p-8f);
  EXPECT_EQ(element::wide(element::round_below_one<element::Float8E4M3>(top)), 0.9375f);
  EXPECT_EQ(element::wide(element::round_below_one<element::Float8E5M2>(top)), 0.875f);
  EXPECT_EQ(element::wide(element::round_below_one<element::Float8E5M2>(0.5f)), 0.5f);
  for (const DType dtype : {DType::Float8E4M3, DType::Float8E5M2}) {
    const std::vector<double> values =
        rand({50000}, seeded(dtype, 3)).to(DType::Float64).to_vector<double>();
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 1);
    EXPECT_NEAR(moments_of(values).mean, 0.5, 0.02);
  }
}

TEST(Randn, IsNormal) {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Float16}) {
    const std::vector<double> values =
        randn({200000}, seeded(dtype, 9)).to(DType::Float64).to_vector<double>();
    const Moments m = moments_of(values);
    EXPECT_NEAR(m.mean, 0, 0.01) << name_of(dtype);
    EXPECT_NEAR(m.variance, 1, 0.02) << name_of(dtype);
    double product = 0;  // neighbours come from one pair and must not be related
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      product += values[i] * values[i + 1] / 100000;
    EXPECT_NEAR(product, 0, 0.02) << name_of(dtype);
    if (size_of(dtype) >= 4) {
      EXPECT_LT(
          kolmogorov_smirnov(values, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }),
          1.95);
    }
  }
}

TEST(Randn, OwnMathematicsIsExactToFloat64) {
  for (int i = 0; i < 20000; ++i) {
    const double u = std::max(1, i) / 20000.0;
    const double log = static_cast<double>(std::log(static_cast<long double>(u)));
    EXPECT_NEAR(element::natural_log(u), log, 4e-16 * std::max(std::fabs(log), 1e-4)) << u;
    const double v = i / 20000.0;
    double sine, cosine;
    element::sine_and_cosine_of_turn(v, sine, cosine);
    const long double angle =
        2 * 3.14159265358979323846264338327950288L * static_cast<long double>(v);
    EXPECT_NEAR(sine, static_cast<double>(std::sin(angle)), 3e-16) << v;
    EXPECT_NEAR(cosine, static_cast<double>(std::cos(angle)), 3e-16) << v;
  }
  EXPECT_EQ(element::natural_log(1.0), 0);
  EXPECT_NEAR(element::natural_log(0x1p-53), -53 * std::log(2.0), 1e-14);
}

TEST(Randn, StaysWithinItsLimits) {
  double first, second;
  element::normal_pair(0x1p-32, 0, first, second);
  EXPECT_NEAR(first, 6.6604, 1e-3);
  EXPECT_EQ(second, 0);
  element::normal_pair(0x1p-53, 0.25, first, second);
  EXPECT_NEAR(second, 8.5717, 1e-3);
  element::normal_pair(1.0, 0.7, first, second);
  EXPECT_EQ(std::fabs(first) + std::fabs(second), 0);
}

TEST(Generator, SeedsAndAdvances) {
  manual_seed(42);
  const Tensor first = rand({10}, cpu);
  const Tensor second = rand({10}, cpu);
  EXPECT_EQ(max_abs_error(first, rand({10}, seeded(DType::Float32, 42))), 0);
  EXPECT_GT(max_abs_error(first, second), 0);
  manual_seed(42);
  EXPECT_EQ(max_abs_error(rand({10}, cpu), first), 0);
  EXPECT_EQ(max_abs_error(rand({10}, cpu), second), 0);
  // 10 elements take 3 blocks of 4: the second draw begins with the fourth block.
  EXPECT_EQ(max_abs_error(second, rand({22}, seeded(DType::Float32, 42)).slice(0, 12, 22)), 0);
  EXPECT_GT(max_abs_error(first, rand({10}, seeded(DType::Float32, 43))), 0);
}

TEST(Generator, GivesNoTwoThreadsTheSameNumbers) {
  manual_seed(1);
  std::vector<std::vector<float>> drawn(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& mine : drawn)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 50; ++i) mine.push_back(rand({4}, cpu)[0].item<float>());
    });
  for (std::thread& thread : threads) thread.join();
  std::multiset<float> all;
  for (const std::vector<float>& mine : drawn) all.insert(mine.begin(), mine.end());
  std::multiset<float> expected;
  const std::vector<float> serial = rand({800}, seeded(DType::Float32, 1)).to_vector<float>();
  for (std::size_t i = 0; i < serial.size(); i += 4) expected.insert(serial[i]);
  EXPECT_EQ(all, expected);
}

TEST(Generator, RefusesDtypesThatAreNotFloats) {
  expect_error<ArgumentError>(
      [] {
        rand({2}, {DType::Int32, cpu});
      },
      "rand makes floating-point numbers, not int32: convert its result with to()");
  expect_error<ArgumentError>(
      [] {
        randn({2}, {DType::Bool, cpu});
      },
      "randn makes floating-point numbers, not bool: convert its result with to()");
}

}  // namespace
}  // namespace tilewright
