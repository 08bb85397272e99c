// SPDX-License-Identifier: Apache-2.0
// bench/benchmark_test.cpp — tw::benchmark as users call it. Nothing here depends on how long
// anything takes.
#include "tilewright/benchmark.h"

#include <gtest/gtest.h>

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
