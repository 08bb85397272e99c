// SPDX-License-Identifier: Apache-2.0
// bench/benchmark_test.cpp — tw::benchmark as users call it. Nothing here depends on how long
// anything takes.
#include "tilewright/benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Benchmark, MeanOfExactlyThreeTrials) {
  int runs = 0;
  const BenchResult r =
      benchmark("gelu", [&] { ++runs; },
                {.warmups = 1, .trials = 3, .clock = Clock::Wall, .device = Device::cpu()});
  EXPECT_EQ(runs, 4);
  ASSERT_EQ(r.samples.size(), 3u);
  EXPECT_DOUBLE_EQ(r.mean, (r.samples[0] + r.samples[1] + r.samples[2]) / 3);
  EXPECT_EQ(r.warmups, 1);
  EXPECT_EQ(r.description, "gelu");
  EXPECT_EQ(r.clock, Clock::Wall);
  EXPECT_EQ(r.device, Device::cpu());
}

TEST(Benchmark, StatisticsAreInOrder) {
  const BenchResult r =
      benchmark([] {}, {.device = Device::cpu(), .min_seconds = 0.001, .max_seconds = 0.05});
  EXPECT_LE(r.min, r.p10);
  EXPECT_LE(r.p10, r.median);
  EXPECT_LE(r.median, r.p90);
  EXPECT_LE(r.p90, r.max);
  EXPECT_LE(r.interval_low, r.median);
  EXPECT_GE(r.interval_high, r.median);
  EXPECT_GE(r.min, 0);
}

TEST(Benchmark, CpuHasOneClock) {
  const BenchResult r = benchmark(
      [] {}, {.warmups = 0, .trials = 1, .clock = Clock::Device, .device = Device::cpu()});
  EXPECT_EQ(r.clock, Clock::Wall);
}

TEST(Benchmark, ExceptionsPassThrough) {
  int runs = 0;
  const auto run = [&] {
    if (++runs == 3) throw std::runtime_error("third");
  };
  EXPECT_THROW(benchmark(run, {.warmups = 0, .trials = 10, .device = Device::cpu()}),
               std::runtime_error);
  EXPECT_EQ(runs, 3);
}

TEST(Benchmark, EmptyFunctionIsRefused) {
  try {
    benchmark(std::function<void()>());
    FAIL() << "must throw";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(), "benchmark needs a function to run, got an empty one");
  }
}

TEST(Benchmark, OneReadableLine) {
  BenchResult r;
  r.description = "gelu";
  r.median = 1.5e-3;
  r.mean = 1.6e-3;
  r.min = 1.4e-3;
  r.p10 = 1.45e-3;
  r.p90 = 1.7e-3;
  r.interval_low = 1.485e-3;
  r.interval_high = 1.515e-3;
  r.samples.assign(42, 1.5e-3);
  r.is_stable = true;
  EXPECT_EQ(r.to_string(),
            "gelu: median 1.50 ms +-1.0% (p10 1.45 ms, p90 1.70 ms, min 1.40 ms, mean 1.60 ms) of "
            "42 runs on cpu, wall clock");
  r.description.clear();
  r.is_stable = false;
  r.clock = Clock::Device;
  r.device = Device::cuda(1);
  r.samples.assign(1, 1.5e-3);
  EXPECT_EQ(r.to_string(),
            "median 1.50 ms +-1.0% (p10 1.45 ms, p90 1.70 ms, min 1.40 ms, mean 1.60 ms) of 1 run "
            "on cuda:1, device events, not steady");
}

TEST(Benchmark, OutliersAndTheHostAreNamed) {
  BenchResult r;
  r.median = r.mean = r.min = r.p10 = r.p90 = r.interval_low = r.interval_high = 2e-3;
  r.samples.assign(20, 2e-3);
  r.outliers = 1;
  r.host_seconds = 4e-6;
  r.graph_seconds = 1.9e-3;
  r.clock_note = "the clock is 1200 of 1980 MHz (power limit, 84 C)";
  r.is_stable = true;
  EXPECT_EQ(
      r.to_string(),
      "median 2.00 ms +-0.0% (p10 2.00 ms, p90 2.00 ms, min 2.00 ms, mean 2.00 ms) of 20 runs "
      "on cpu, wall clock, 1 outlier, host 4.00 us per run, in a graph 1.90 ms, the clock is "
      "1200 of 1980 MHz (power limit, 84 C)");
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A sleep is never shorter than asked for, and on a busy machine longer: what it really took is the
// truth to be found.
TEST(Benchmark, FindsTheTimeOfASleepWithinOnePercent) {
  std::vector<double> truth;
  const BenchResult r = benchmark(
      [&] {
        const double begin = seconds_now();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        truth.push_back(seconds_now() - begin);
      },
      {.warmups = 0, .trials = 15, .device = Device::cpu()});
  std::sort(truth.begin(), truth.end());
  EXPECT_GE(r.min, 5e-3);
  EXPECT_NEAR(r.median, truth[7], 0.01 * truth[7]);
}

// Work that no compiler can leave out.
void spin(int rounds) {
  volatile double x = 1;
  for (int i = 0; i < rounds; ++i) x = x * 0.999 + 0.001;
}

TEST(Compare, ASlowerFunctionIsReportedAsSlower) {
  const Comparison c = compare([] { spin(20000); }, [] { spin(60000); },
                               {.device = Device::cpu(), .max_seconds = 1});
  EXPECT_TRUE(c.is_slower()) << c.to_string();
  EXPECT_FALSE(c.is_faster());
  EXPECT_GT(c.ratio, 1.5) << c.to_string();
  EXPECT_GE(c.ratio, c.ratio_low);
  EXPECT_LE(c.ratio, c.ratio_high);
}

TEST(Compare, OneReadableLine) {
  Comparison c;
  c.ratio = 1.5;
  c.ratio_low = 1.4;
  c.ratio_high = 1.6;
  c.rounds = 11;
  EXPECT_EQ(c.to_string(), "b takes 1.500 times as long as a (1.400 to 1.600, 11 rounds): slower");
  c.ratio_low = 0.9;
  EXPECT_EQ(c.to_string(),
            "b takes 1.500 times as long as a (0.900 to 1.600, 11 rounds): no "
            "difference shown");
}

TEST(Compare, EmptyFunctionIsRefused) {
  EXPECT_THROW(compare([] {}, std::function<void()>()), ArgumentError);
}

TEST(Benchmark, DeviceEventsOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  int runs = 0;
  const BenchResult r =
      benchmark([&] { ++runs; }, {.warmups = 2, .trials = 100, .device = Device::cuda()});
  EXPECT_EQ(runs, 102);
  EXPECT_EQ(r.clock, Clock::Device);
  for (double t : r.samples) EXPECT_GE(t, 0);
}

}  // namespace
}  // namespace tilewright
