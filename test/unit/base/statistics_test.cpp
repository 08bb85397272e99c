// SPDX-License-Identifier: Apache-2.0
// base/statistics_test.cpp — medians, quantiles and the interval of the median, against values
// worked out by hand.
#include "base/statistics.h"

#include <numeric>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tilewright {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, OneSampleIsEverything) {
  const Summary s = summarize(std::vector<double>{3.5});
  for (double value :
       {s.median, s.mean, s.min, s.max, s.p10, s.p90, s.interval.low, s.interval.high})
    EXPECT_EQ(value, 3.5);
}

TEST(Statistics, OrderDoesNotMatter) {
  const Summary s = summarize(std::vector<double>{9, 1, 5, 3, 7, 11, 2, 4, 6, 8, 10});
  EXPECT_EQ(s.median, 6);
  EXPECT_EQ(s.mean, 6);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 11);
  EXPECT_EQ(s.p10, 2);
  EXPECT_EQ(s.p90, 10);
}

TEST(Statistics, MedianOfAnEvenNumberLiesBetween) {
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 3, 2}), 2.5);
}

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(quantile(one_to(5), 0.1), 1.4);
  EXPECT_EQ(quantile(one_to(5), 0), 1);
  EXPECT_EQ(quantile(one_to(5), 1), 5);
}

// The ranks of the binomial table for 95%: of 6 samples the ends, of 20 the 6th and 15th, of 100
// the 40th and 61st.
TEST(Statistics, IntervalOfTheMedian) {
  const struct {
    int samples;
    double low, high;
  } cases[] = {{1, 1, 1},  {2, 1, 2},   {5, 1, 5},    {6, 1, 6},     {8, 1, 8},       {9, 2, 8},
               {10, 2, 9}, {20, 6, 15}, {50, 18, 33}, {100, 40, 61}, {1000, 469, 532}};
  for (const auto& c : cases) {
    const Interval interval = median_interval(one_to(c.samples));
    EXPECT_EQ(interval.low, c.low) << c.samples << " samples";
    EXPECT_EQ(interval.high, c.high) << c.samples << " samples";
  }
}

TEST(Statistics, LargeNumbersUseTheSameRule) {
  const Interval small = median_interval(one_to(1000));
  const Interval large = median_interval(one_to(1001));
  EXPECT_NEAR(large.low, small.low, 1.5);
  EXPECT_NEAR(large.high, small.high, 1.5);
  const Interval huge = median_interval(one_to(100001));
  EXPECT_LT(huge.low, 50001);
  EXPECT_GT(huge.high, 50001);
  EXPECT_NEAR(huge.high - huge.low, 1.96 * 316.2, 3);
}

TEST(Statistics, OneOutlierMovesNeitherMedianNorInterval) {
  std::vector<double> values(99, 1.0);
  values.push_back(1000);
  const Summary s = summarize(values);
  EXPECT_EQ(s.median, 1);
  EXPECT_EQ(s.interval.high, 1);
  EXPECT_EQ(s.max, 1000);
}

// ---- Properties, over random samples.

std::vector<double> random_times(std::mt19937& random, std::size_t count) {
  std::lognormal_distribution<double> times(0, 0.5);  // a floor and a long tail
  std::vector<double> samples(count);
  for (double& sample : samples) sample = times(random);
  return samples;
}

TEST(StatisticsProperties, OrderScaleAndShuffle) {
  std::mt19937 random(1);
  for (std::size_t count = 1; count < 200; ++count) {
    std::vector<double> samples = random_times(random, count);
    const Summary s = summarize(samples);
    EXPECT_LE(s.min, s.p10);
    EXPECT_LE(s.p10, s.median);
    EXPECT_LE(s.median, s.p90);
    EXPECT_LE(s.p90, s.max);
    EXPECT_LE(s.interval.low, s.median);
    EXPECT_GE(s.interval.high, s.median);
    EXPECT_GE(s.mean, s.min);
    EXPECT_LE(s.mean, s.max);
    std::shuffle(samples.begin(), samples.end(), random);
    for (double& sample : samples) sample *= 4;
    const Summary scaled = summarize(samples);
    EXPECT_DOUBLE_EQ(scaled.median, 4 * s.median);
    EXPECT_DOUBLE_EQ(scaled.p90, 4 * s.p90);
    EXPECT_DOUBLE_EQ(scaled.interval.low, 4 * s.interval.low);
    EXPECT_EQ(scaled.outliers, s.outliers);
  }
}

TEST(StatisticsProperties, QuantilesGrow) {
  std::mt19937 random(2);
  std::vector<double> samples = random_times(random, 57);
  std::sort(samples.begin(), samples.end());
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(quantile(samples, i / 100.0), quantile(samples, (i + 1) / 100.0));
  EXPECT_EQ(quantile(samples, 0), samples.front());
  EXPECT_EQ(quantile(samples, 1), samples.back());
}

// The true median of this distribution is 1.
TEST(StatisticsProperties, TheIntervalHoldsTheMedianInNineteenOfTwentyCases) {
  std::mt19937 random(3);
  for (const std::size_t count : {11, 30, 101, 1500}) {
    int held = 0;
    constexpr int cases = 1000;
    for (int i = 0; i < cases; ++i) {
      const Interval interval = summarize(random_times(random, count)).interval;
      held += interval.low <= 1 && 1 <= interval.high;
    }
    EXPECT_GE(held, 930) << count;
  }
}

TEST(Outliers, LieFarFromTheMiddleHalf) {
  std::vector<double> samples(20, 1.0);
  EXPECT_EQ(summarize(samples).outliers, 0);
  samples.back() = 9;
  EXPECT_EQ(summarize(samples).outliers, 1);
  samples.front() = 0.1;
  EXPECT_EQ(summarize(samples).outliers, 2);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i);
  EXPECT_EQ(summarize(samples).outliers, 0);
}

}  // namespace
}  // namespace tilewright
