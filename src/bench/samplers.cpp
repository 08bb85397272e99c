// SPDX-License-Identifier: Apache-2.0
// bench/samplers.cpp — timing by the wall clock and by device events.
#include "bench/samplers.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/statistics.h"

namespace tilewright {
namespace {

// The clock reads in steps of about 25 ns and costs as much: a sample this long is right to a few
// parts in a thousand.
constexpr double shortest_sample = 20e-6;
constexpr int max_calls_per_sample = 1 << 20;

// Pairs of events that are in flight at a time: enough to hide the host's wait at the end of each
// lot.
constexpr std::size_t pairs_in_flight = 64;

}  // namespace

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void WallSampler::sample(int count, std::vector<double>& seconds) {
  parts_.synchronize();
  for (int i = 0; i < count; ++i) {
    const double begin = parts_.now();
    for (int call = 0; call < calls_per_sample_; ++call) parts_.run();
    parts_.synchronize();
    seconds.push_back((parts_.now() - begin) / calls_per_sample_);
  }
}

void WallSampler::settle(double typical_seconds) {
  if (!parts_.may_batch || typical_seconds >= shortest_sample) return;
  const double calls =
      typical_seconds > 0 ? std::ceil(shortest_sample / typical_seconds) : max_calls_per_sample;
  calls_per_sample_ = static_cast<int>(std::min<double>(calls, max_calls_per_sample));
}

EventSampler::EventSampler(const std::function<void()>& run, Device device, bool flush)
    : run_(run), stream_(current_stream(device)) {
  for (std::size_t i = 0; i < pairs_in_flight; ++i) {
    starts_.emplace_back(device);
    stops_.emplace_back(device);
  }
  if (flush) flush_.emplace(stream_);
}

void EventSampler::queue(std::size_t pair) {
  if (flush_) flush_->run();
  starts_[pair].record(stream_);
  const double begin = wall_seconds();
  run_();
  host_.push_back(wall_seconds() - begin);
  stops_[pair].record(stream_);
}

void EventSampler::sample(int count, std::vector<double>& seconds) {
  for (std::size_t left = static_cast<std::size_t>(count); left > 0;) {
    const std::size_t lot = std::min(left, pairs_in_flight);
    host_.clear();
    for (std::size_t pair = 0; pair < lot; ++pair) queue(pair);
    stops_[lot - 1].synchronize();
    for (std::size_t pair = 0; pair < lot; ++pair)
      seconds.push_back(stops_[pair].seconds_since(starts_[pair]));
    left -= lot;
  }
}

double EventSampler::host_seconds() const { return host_.empty() ? 0 : median_of(host_); }

}  // namespace tilewright
