// SPDX-License-Identifier: Apache-2.0
// tilewright/benchmark.h — how long something takes, measured so that the number can be trusted.
//
//   BenchResult r = tw::benchmark([&] { f(x); });
//   r.median, r.p10, r.p90, r.description
//
// Warms up until times are steady, synchronises, times each repetition with device events (or the
// wall clock), empties the device's cache in between, and repeats until the median's confidence
// interval is narrow or the time limit is reached. Device events time the current stream of the
// device: `run` must queue its work there. An exception of `run` passes through.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/device.h"

namespace tilewright {

enum class Clock {
  Automatic,  // device events on CUDA, the wall clock on the CPU
  Device,
  Wall,  // around a call and a synchronisation of the device
};

struct BenchOptions {
  // Where set, exactly this many runs; otherwise warm-ups end when times are steady and trials by
  // the rule below. Exact trials are timed one by one; without a count, CPU runs of a few
  // microseconds are timed several at once.
  std::optional<int> warmups = {};
  std::optional<int> trials = {};
  Clock clock = Clock::Automatic;
  std::optional<Device> device = {};  // else default_device()
  // Between repetitions timed by device events; false where `run` rotates its own inputs. The wall
  // clock never flushes.
  bool flush_cache = true;
  // CUDA: also captures `run` into a graph and times its replay, which has no launch overhead: the
  // number for kernels of a few microseconds. Runs that cannot be captured have none.
  bool graph = false;
  double relative_interval = 0.01;  // stop when the 95% interval of the median is this narrow
  double min_seconds = 0.1;         // of measuring, after the warm-up
  double max_seconds = 2.0;         // then it ends, the median known or not; one run is always made
};

struct BenchResult {
  std::string description;
  double median = 0;  // seconds, as are all below
  double mean = 0;
  double min = 0;
  double max = 0;
  double p10 = 0;
  double p90 = 0;
  double interval_low = 0;  // 95% confidence interval of the median
  double interval_high = 0;
  int outliers = 0;             // samples far outside of the middle half (1.5 of its width)
  bool is_stable = false;       // the stopping rule was met before the time limit
  double host_seconds = 0;      // of the call that queues the work; 0 where the call does the work
  double graph_seconds = 0;     // with BenchOptions::graph: of one run in a replayed CUDA graph
  std::string clock_note;       // the GPU's clock when it is throttled; empty otherwise
  std::vector<double> samples;  // one time of one run each
  int warmups = 0;
  Clock clock = Clock::Wall;
  Device device;

  std::string to_string() const;  // one readable line
};

BenchResult benchmark(const std::function<void()>& run, const BenchOptions& options = {});
// benchmark("gelu", run, {.warmups = 1, .trials = 3, .clock = Clock::Wall}).mean is the mean of
// three timed runs.
BenchResult benchmark(const std::string& description, const std::function<void()>& run,
                      const BenchOptions& options = {});

// Two functions in turns, A B A B ... A, so that a machine that grows warm or busy slows both
// alike.
struct Comparison {
  BenchResult a;
  BenchResult b;
  double ratio = 1;      // time of b / time of a
  double ratio_low = 1;  // 95% confidence interval of the ratio
  double ratio_high = 1;
  int rounds = 0;

  bool is_slower() const { return ratio_low > 1; }  // b is, and chance does not explain it
  bool is_faster() const { return ratio_high < 1; }
  std::string to_string() const;  // one readable line
};
// `options.max_seconds` is for both together; with `options.trials`, each turn has so many.
Comparison compare(const std::function<void()>& a, const std::function<void()>& b,
                   const BenchOptions& options = {});

// What a device reaches at best, measured now in about half a second: bytes read plus bytes written
// per second by a large copy (streaming stores on all cores of a CPU), and float32 operations per
// second of multiply-adds outside of matrix units. Throws MissingError where a compiler is missing
// that the measuring needs.
// `bytes` is the size of the copy; 0 chooses one that no cache holds.
double measure_copy_bandwidth(Device device, std::size_t bytes = 0);
double measure_multiply_add_rate(Device device);

}  // namespace tilewright
