// SPDX-License-Identifier: Apache-2.0
// bench/measure.cpp — the warm-up and stopping rules.
#include "bench/measure.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/statistics.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr double steady_difference = 0.03;  // of the medians of successive groups
constexpr std::size_t max_warmup_groups = 100;
constexpr int min_samples = 11;      // fewer give an interval that is the whole range
constexpr int max_samples = 100000;  // bounds memory when the interval never narrows

// How many repetitions of `typical` seconds fill `seconds`.
int count_for(double seconds, double typical, int low, int high) {
  if (!(typical > 0)) return high;
  return static_cast<int>(
      std::clamp(seconds / typical, static_cast<double>(low), static_cast<double>(high)));
}

struct WarmUp {
  int repetitions = 0;
  double typical_seconds = 0;
};

// The medians of the last three groups lie close together.
bool is_steady(std::span<const double> medians) {
  if (medians.size() < 3) return false;
  const auto [low, high] = std::minmax_element(medians.end() - 3, medians.end());
  return *high - *low <= steady_difference * *low;
}

// The first repetition is alone: it may load code or allocate, and its time says how large the
// groups can be.
WarmUp warm_up_until_steady(Sampler& sampler, const BenchOptions& options) {
  const double limit = sampler.now() + options.max_seconds / 4;
  std::vector<double> group;
  sampler.sample(1, group);
  WarmUp done{1, group.front()};
  // Clocks of processors need some time to rise; what the first repetition took does not count.
  const double enough = options.min_seconds / 5;
  const double earliest = sampler.now() + enough;
  std::vector<double> medians;
  while (medians.size() < max_warmup_groups && sampler.now() < limit) {
    const int count = count_for(enough / 4, done.typical_seconds, 3, 200);
    group.clear();
    sampler.sample(count, group);
    done.repetitions += count;
    done.typical_seconds = median_of(group);
    medians.push_back(done.typical_seconds);
    if (sampler.now() >= earliest && is_steady(medians)) break;
  }
  return done;
}

WarmUp warm_up(Sampler& sampler, const BenchOptions& options) {
  if (!options.warmups) return warm_up_until_steady(sampler, options);
  if (*options.warmups == 0) return {};
  std::vector<double> times;
  sampler.sample(*options.warmups, times);
  return {*options.warmups, median_of(times)};
}

// Samples until the median is known; false when a limit came first.
bool sample_until_known(Sampler& sampler, const BenchOptions& options,
                        std::vector<double>& samples) {
  const double begin = sampler.now();
  double typical = 0;
  while (true) {
    const int count = samples.empty() ? 1 : count_for(options.min_seconds / 10, typical, 1, 1000);
    sampler.sample(count, samples);
    const double elapsed = sampler.now() - begin;
    // Includes what lies between repetitions, so that a chunk takes the time it was meant to take.
    typical = elapsed / static_cast<double>(samples.size());
    if (elapsed >= options.min_seconds && is_known(samples, options.relative_interval)) return true;
    if (elapsed >= options.max_seconds || samples.size() >= max_samples) return false;
  }
}

}  // namespace

bool is_known(std::vector<double> samples, double relative_interval) {
  if (samples.size() < static_cast<std::size_t>(min_samples)) return false;
  std::sort(samples.begin(), samples.end());
  const Interval interval = median_interval(samples);
  return interval.high - interval.low <= relative_interval * quantile(samples, 0.5);
}

void check_options(const BenchOptions& options) {
  const auto check = [](bool is_right, const char* name, const char* rule, auto value) {
    if (!is_right)
      throw ArgumentError(fmt::format("benchmark option {} must be {}, got {}", name, rule, value));
  };
  if (options.warmups) check(*options.warmups >= 0, "warmups", "0 or more", *options.warmups);
  if (options.trials) check(*options.trials >= 1, "trials", "1 or more", *options.trials);
  check(options.relative_interval > 0, "relative_interval", "positive", options.relative_interval);
  check(options.min_seconds >= 0, "min_seconds", "0 or more", options.min_seconds);
  check(options.max_seconds > 0, "max_seconds", "positive", options.max_seconds);
}

Measurement measure(Sampler& sampler, const BenchOptions& options) {
  Measurement result;
  const WarmUp done = warm_up(sampler, options);
  result.warmups = done.repetitions;
  if (options.trials) {
    sampler.sample(*options.trials, result.samples);
    result.is_stable = is_known(result.samples, options.relative_interval);
    return result;
  }
  if (done.repetitions > 0) sampler.settle(done.typical_seconds);
  result.is_stable = sample_until_known(sampler, options, result.samples);
  return result;
}

}  // namespace tilewright
