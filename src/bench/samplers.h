// SPDX-License-Identifier: Apache-2.0
// bench/samplers.h — the two clocks: around a call and a synchronisation, or device events around
// each repetition.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/cache_flush.h"
#include "bench/measure.h"
#include "tilewright/stream.h"

namespace tilewright {

// Seconds of the process's monotonic clock.
double wall_seconds();

class WallSampler : public Sampler {
 public:
  struct Parts {
    std::function<void()> run;
    std::function<void()> synchronize;
    std::function<double()> now = wall_seconds;
    // Calls that are shorter than the clock can time are timed several at once, with one
    // synchronisation at the end. Only right where a call is finished when it returns.
    bool may_batch = false;
  };
  explicit WallSampler(Parts parts) : parts_(std::move(parts)) {}

  void sample(int count, std::vector<double>& seconds) override;
  void settle(double typical_seconds) override;
  double now() override { return parts_.now(); }
  int calls_per_sample() const { return calls_per_sample_; }

 private:
  Parts parts_;
  int calls_per_sample_ = 1;
};

// Repetitions are queued without waiting, so that the device never waits for the host; with
// `flush`, each one finds the device's cache filled with other data.
class EventSampler : public Sampler {
 public:
  EventSampler(const std::function<void()>& run, Device device, bool flush);

  void sample(int count, std::vector<double>& seconds) override;
  double now() override { return wall_seconds(); }
  double host_seconds() const override;

 private:
  void queue(std::size_t pair);

  const std::function<void()>& run_;
  Stream stream_;
  std::vector<Event> starts_;
  std::vector<Event> stops_;
  std::optional<CacheFlush> flush_;
  std::vector<double> host_;  // of the last lot
};

}  // namespace tilewright
