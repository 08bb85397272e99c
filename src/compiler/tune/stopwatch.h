// SPDX-License-Identifier: Apache-2.0
// compiler/tune/stopwatch.h — how long one launch takes: device events with an emptied cache on
// CUDA, as Triton's do_bench, and the wall clock on the CPU.
//
// bench/ measures with more care, but lies above this layer, and a launch that tunes must be quick.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/cache_flush.h"

namespace tilewright {

double stopwatch_now();  // seconds of the wall clock

class Stopwatch {
 public:
  explicit Stopwatch(const Stream& stream);

  // Runs `before` and `run` `count` times and appends what each `run` took.
  void time(int count, const std::function<void()>& before, const std::function<void()>& run,
            std::vector<double>& seconds);

 private:
  void time_on_device(int count, const std::function<void()>& before,
                      const std::function<void()>& run, std::vector<double>& seconds);

  Stream stream_;
  std::optional<CacheFlush> flush_;  // CUDA
  std::vector<Event> starts_, stops_;
};

}  // namespace tilewright
