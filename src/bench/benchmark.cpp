// SPDX-License-Identifier: Apache-2.0
// bench/benchmark.cpp — tw::benchmark: the clock is chosen, times are taken, and the numbers are
// made from them.
#include "tilewright/benchmark.h"

#include <memory>

#include <fmt/format.h>

#include "base/units.h"
#include "bench/compare.h"
#include "bench/measure.h"
#include "bench/samplers.h"
#include "base/statistics.h"
#include "runtime/captured_graph.h"
#include "runtime/gpu_clocks.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// What lies between the work of a graph's kernels is the GPU's own doing, so many replays are timed
// at once.
double time_in_graph(const std::function<void()>& run, Device device) {
  if (!device.is_cuda()) return 0;
  const std::unique_ptr<CapturedGraph> graph = capture_graph(run, device, 20);
  if (!graph) return 0;
  const Stream stream = current_stream(device);
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    Event start(device), stop(device);
    start.record(stream);
    graph->replay(stream);
    stop.record(stream);
    stop.synchronize();
    if (i >= 2) times.push_back(stop.seconds_since(start) / 20);
  }
  return median_of(times);
}

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
  r.outliers = s.outliers;
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
  result.host_seconds = sampler->host_seconds();
  result.clock_note = clock_note(device);
  if (options.graph) result.graph_seconds = time_in_graph(run, device);
  result.description = description;
  result.clock = clock;
  result.device = device;
  return result;
}

Comparison compare(const std::function<void()>& a, const std::function<void()>& b,
                   const BenchOptions& options) {
  if (!a || !b) throw ArgumentError("compare needs two functions to run, got an empty one");
  check_options(options);
  const Device device = options.device ? *options.device : default_device();
  const Clock clock = chosen_clock(options.clock, device);
  const auto sampler_a = sampler_for(a, clock, device, options.flush_cache);
  const auto sampler_b = sampler_for(b, clock, device, options.flush_cache);
  Turns turns = take_turns(*sampler_a, *sampler_b, options);
  Comparison comparison;
  comparison.rounds = static_cast<int>(turns.ratios.size());
  if (!turns.ratios.empty()) {
    const Summary ratios = summarize(turns.ratios);
    comparison.ratio = ratios.median;
    comparison.ratio_low = ratios.interval.low;
    comparison.ratio_high = ratios.interval.high;
  }
  for (auto [result, samples] : {std::pair{&comparison.a, &turns.a}, {&comparison.b, &turns.b}}) {
    *result = result_of({std::move(*samples), 0, true});
    result->clock = clock;
    result->device = device;
  }
  return comparison;
}

std::string Comparison::to_string() const {
  const char* verdict = is_slower() ? "slower" : is_faster() ? "faster" : "no difference shown";
  return fmt::format("b takes {:.3f} times as long as a ({:.3f} to {:.3f}, {} rounds): {}", ratio,
                     ratio_low, ratio_high, rounds, verdict);
}

std::string BenchResult::to_string() const {
  const double half_width = median > 0 ? 50 * (interval_high - interval_low) / median : 0;
  std::string more;
  if (outliers > 0) more += fmt::format(", {} outlier{}", outliers, outliers == 1 ? "" : "s");
  if (host_seconds > 0) more += fmt::format(", host {} per run", format_seconds(host_seconds));
  if (graph_seconds > 0) more += fmt::format(", in a graph {}", format_seconds(graph_seconds));
  if (!is_stable) more += ", not steady";
  if (!clock_note.empty()) more += ", " + clock_note;
  return fmt::format(
      "{}{}median {} +-{:.1f}% (p10 {}, p90 {}, min {}, mean {}) of {} run{} on {}, {}{}",
      description, description.empty() ? "" : ": ", format_seconds(median), half_width,
      format_seconds(p10), format_seconds(p90), format_seconds(min), format_seconds(mean),
      samples.size(), samples.size() == 1 ? "" : "s", device.name(),
      clock == Clock::Device ? "device events" : "wall clock", more);
}

}  // namespace tilewright
