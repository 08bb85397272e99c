// SPDX-License-Identifier: Apache-2.0
// bench/benchmark.cpp — tw::benchmark: the clock is chosen, times are taken, and the numbers are
// made from them.
#include "tilewright/benchmark.h"

#include <memory>

#include <fmt/format.h>

#include "base/units.h"
#include "bench/measure.h"
#include "bench/samplers.h"
#include "bench/statistics.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// On the CPU work is done when a call returns, and both clocks are the same one.
Clock chosen_clock(Clock wanted, Device device) {
  if (device.is_cpu()) return Clock::Wall;
  return wanted == Clock::Wall ? Clock::Wall : Clock::Device;
}

std::unique_ptr<Sampler> sampler_for(const std::function<void()>& run, Clock clock, Device device,
                                     bool flush) {
  if (clock == Clock::Device) return std::make_unique<EventSampler>(run, device, flush);
  return std::make_unique<WallSampler>(WallSampler::Parts{
      .run = run, .synchronize = [device] { device.synchronize(); }, .may_batch = device.is_cpu()});
}

BenchResult result_of(Measurement measurement) {
  const Summary s = summarize(measurement.samples);
  BenchResult r;
  r.median = s.median;
  r.mean = s.mean;
  r.min = s.min;
  r.max = s.max;
  r.p10 = s.p10;
  r.p90 = s.p90;
  r.interval_low = s.interval.low;
  r.interval_high = s.interval.high;
  r.is_stable = measurement.is_stable;
  r.samples = std::move(measurement.samples);
  r.warmups = measurement.warmups;
  return r;
}

}  // namespace

BenchResult benchmark(const std::function<void()>& run, const BenchOptions& options) {
  return benchmark(std::string(), run, options);
}

BenchResult benchmark(const std::string& description, const std::function<void()>& run,
                      const BenchOptions& options) {
  if (!run) throw ArgumentError("benchmark needs a function to run, got an empty one");
  check_options(options);
  const Device device = options.device ? *options.device : default_device();
  const Clock clock = chosen_clock(options.clock, device);
  const std::unique_ptr<Sampler> sampler = sampler_for(run, clock, device, options.flush_cache);
  BenchResult result = result_of(measure(*sampler, options));
  result.description = description;
  result.clock = clock;
  result.device = device;
  return result;
}

std::string BenchResult::to_string() const {
  const double half_width = median > 0 ? 50 * (interval_high - interval_low) / median : 0;
  return fmt::format(
      "{}{}median {} +-{:.1f}% (p10 {}, p90 {}, min {}, mean {}) of {} run{} on {}, {}{}",
      description, description.empty() ? "" : ": ", format_seconds(median), half_width,
      format_seconds(p10), format_seconds(p90), format_seconds(min), format_seconds(mean),
      samples.size(), samples.size() == 1 ? "" : "s", device.name(),
      clock == Clock::Device ? "device events" : "wall clock", is_stable ? "" : ", not steady");
}

}  // namespace tilewright
