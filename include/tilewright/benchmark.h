// SPDX-License-Identifier: Apache-2.0
// tilewright/benchmark.h — how long something takes, measured so that the number can be trusted.
//
//   BenchResult r = tw::benchmark([&] { f(x); });
//   r.median, r.p10, r.p90, r.description
//
// Warms up until times are steady, synchronises, times each repetition with device events (or the wall clock), empties
// the caches in between, and repeats until the median's confidence interval is narrow or the time limit is reached.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/device.h"

namespace tilewright {

enum class Clock {
  Automatic,   // device events on CUDA, the wall clock on the CPU
  Device,
  Wall,        // around a call and a synchronisation
};

struct BenchOptions {
  // Set both for exactly these counts; otherwise they are found by the stopping rule.
  std::optional<int> warmups;
  std::optional<int> trials;
  Clock clock = Clock::Automatic;
  std::optional<Device> device;          // else default_device()
  bool flush_cache = true;               // between device repetitions; false where `run` rotates its own inputs
  double relative_interval = 0.01;       // stop when the 95% interval of the median is this narrow
  double min_seconds = 0.1;              // of measured work
  double max_seconds = 2.0;
};

struct BenchResult {
  std::string description;
  double median = 0;                     // seconds, as are all below
  double mean = 0;
  double min = 0;
  double max = 0;
  double p10 = 0;
  double p90 = 0;
  double interval_low = 0;               // 95% confidence interval of the median
  double interval_high = 0;
  bool is_stable = false;                // the stopping rule was met before the time limit
  std::vector<double> samples;
  int warmups = 0;
  Clock clock = Clock::Wall;
  Device device;

  std::string to_string() const;         // one readable line
};

BenchResult benchmark(const std::function<void()>& run, const BenchOptions& options = {});
// benchmark("gelu", run, {.warmups = 1, .trials = 3, .clock = Clock::Wall}).mean is the mean of three timed runs.
BenchResult benchmark(const std::string& description, const std::function<void()>& run, const BenchOptions& options = {});

}  // namespace tilewright
