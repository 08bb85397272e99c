// SPDX-License-Identifier: Apache-2.0
// compiler/tune/stopwatch.cpp — the two clocks.
#include "compiler/tune/stopwatch.h"

#include <chrono>

namespace tilewright {

double stopwatch_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Stopwatch::Stopwatch(const Stream& stream) : stream_(stream) {
  if (stream.device().is_cuda()) flush_.emplace(stream);
}

void Stopwatch::time(int count, const std::function<void()>& before,
                     const std::function<void()>& run, std::vector<double>& seconds) {
  if (flush_) return time_on_device(count, before, run, seconds);
  for (int i = 0; i < count; ++i) {
    before();
    const double begin = stopwatch_now();
    run();
    seconds.push_back(stopwatch_now() - begin);
  }
}

// All are queued before the host waits, so that the device never waits for the host.
void Stopwatch::time_on_device(int count, const std::function<void()>& before,
                               const std::function<void()>& run, std::vector<double>& seconds) {
  const auto pairs = static_cast<std::size_t>(count);
  while (starts_.size() < pairs) {
    starts_.emplace_back(stream_.device());
    stops_.emplace_back(stream_.device());
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    before();
    flush_->run();
    starts_[i].record(stream_);
    run();
    stops_[i].record(stream_);
  }
  stream_.synchronize();
  for (std::size_t i = 0; i < pairs; ++i) seconds.push_back(stops_[i].seconds_since(starts_[i]));
}

}  // namespace tilewright
