// SPDX-License-Identifier: Apache-2.0
// bench/compare.cpp — interleaved turns of two samplers.
#include "bench/compare.h"

#include <algorithm>

namespace tilewright {
namespace {

constexpr int enough_rounds = 11;  // their interval leaves out the two outermost ratios at each end
constexpr int most_rounds = 101;

// How many repetitions one turn of a sampler has.
int turn_length(Sampler& sampler, const BenchOptions& options, double turn_seconds) {
  if (options.trials) return *options.trials;
  std::vector<double> first;
  sampler.sample(options.warmups ? std::max(*options.warmups, 1) : 3, first);
  const double typical = median_of(first);
  sampler.settle(typical);
  return typical > 0 ? static_cast<int>(std::clamp(turn_seconds / typical, 1.0, 1000.0)) : 1000;
}

double take(Sampler& sampler, int count, std::vector<double>& all) {
  std::vector<double> turn;
  sampler.sample(count, turn);
  all.insert(all.end(), turn.begin(), turn.end());
  return median_of(turn);
}

bool is_narrow(std::vector<double> ratios, double wanted) {
  std::sort(ratios.begin(), ratios.end());
  const Interval interval = median_interval(ratios);
  return interval.high - interval.low <= wanted * quantile(ratios, 0.5);
}

}  // namespace

Turns take_turns(Sampler& a, Sampler& b, const BenchOptions& options) {
  const double turn_seconds = options.max_seconds / (4 * enough_rounds);
  const int count_a = turn_length(a, options, turn_seconds);
  const int count_b = turn_length(b, options, turn_seconds);
  const double end = a.now() + options.max_seconds;
  Turns turns;
  double before = take(a, count_a, turns.a);
  for (int round = 0; round < most_rounds; ++round) {
    const double b_median = take(b, count_b, turns.b);
    const double after = take(a, count_a, turns.a);
    const double a_median = (before + after) / 2;
    if (a_median > 0) turns.ratios.push_back(b_median / a_median);
    before = after;
    const int rounds = round + 1;
    if (rounds >= enough_rounds && is_narrow(turns.ratios, options.relative_interval)) break;
    if (a.now() >= end) break;
  }
  return turns;
}

}  // namespace tilewright
