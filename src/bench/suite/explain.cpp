// SPDX-License-Identifier: Apache-2.0
// bench/suite/explain.cpp — numbers of launches, ceilings and counters as sentences.
#include "bench/suite/explain.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.h"
#include "profile/trace.h"
#include "runtime/occupancy.h"
#include "tilewright/error.h"
#include "tilewright/profile.h"

namespace tilewright::suite {
namespace {

std::string short_number(double value) {
  return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

struct Work {
  double flops = 0;
  double asked = 0;  // bytes that the kernels read and write, from caches too; 0: not counted
  bool is_exact = true;
};

Work work_of(const Record& record, const Evidence& evidence) {
  Work work;
  for (const LaunchFacts& launch : evidence.launches) {
    work.flops += launch.flops;
    work.asked += launch.bytes_read + launch.bytes_written;
    work.is_exact &= launch.is_exact;
  }
  if (work.asked <= 0) work.flops = record.flops;
  return work;
}

// Against memory counts what a way must at least move: what kernels ask for more than once comes
// from caches.
void add_roofline(Explanation& out, const Record& record, const Work& work,
                  const Ceilings& ceilings) {
  const double bytes = record.bytes_moved, intensity = work.flops / bytes;
  out.emplace_back(
      "work", fmt::format("{}{}, at least {} through memory: {} FLOP per byte",
                          work.is_exact ? "" : "about ", format_rate(work.flops, "FLOP"),
                          format_bytes(static_cast<std::size_t>(bytes)), short_number(intensity)));
  if (work.asked > 1.05 * bytes)
    out.emplace_back("reuse", fmt::format("the kernels ask for {}, {:.1f} times as much: caches "
                                          "must serve the rest",
                                          format_bytes(static_cast<std::size_t>(work.asked)),
                                          work.asked / bytes));
  const double peak = ceilings.flops_for(record.dtype), bandwidth = ceilings.bytes_per_second;
  if (peak <= 0 || bandwidth <= 0) return;
  const double ridge = peak / bandwidth;
  const bool is_memory_bound = intensity < ridge;
  out.emplace_back("bound by",
                   fmt::format("{}: this machine does {} FLOP in the time of one byte",
                               is_memory_bound ? "memory" : "arithmetic", short_number(ridge)));
  const double rate = (is_memory_bound ? bytes : work.flops) / record.seconds;
  const double ceiling = is_memory_bound ? bandwidth : peak;
  const char* unit = is_memory_bound ? "B/s" : "FLOP/s";
  const bool is_cached = record.note.find("in cache") != std::string::npos;
  out.emplace_back(
      "achieved", fmt::format("{}, {:.0f}% of the {} that were measured{}", format_rate(rate, unit),
                              100 * rate / ceiling, format_rate(ceiling, unit),
                              is_cached && is_memory_bound ? "; the data is in cache" : ""));
}

std::string limits_text(const Occupancy& o) {
  std::vector<std::string> names;
  for (const OccupancyLimit limit : o.limits) names.push_back(name_of(limit));
  return fmt::format("{}", fmt::join(names, " and "));
}

void add_blocks(Explanation& out, const LaunchFacts& launch, const Target& target) {
  if (launch.threads == 0 || launch.registers == 0) return;
  const Occupancy o = occupancy(target, {.threads = launch.threads,
                                         .registers = launch.registers,
                                         .shared_bytes = launch.shared_bytes});
  out.emplace_back(
      "occupancy",
      fmt::format("{:.0f}%: {} block{} of {} threads, {} registers and {} of shared "
                  "memory per multiprocessor, limited by {}",
                  100 * o.fraction, o.blocks_per_processor, o.blocks_per_processor == 1 ? "" : "s",
                  launch.threads, launch.registers,
                  format_bytes(static_cast<std::size_t>(launch.shared_bytes)), limits_text(o)));
  const Waves w = waves_of(target, o, launch.grid.count());
  out.emplace_back("waves",
                   fmt::format("{:.2f} of {} blocks at a time", w.waves, w.blocks_per_wave));
  if (const std::string tail = tail_fault(w); !tail.empty()) out.emplace_back("look at", tail);
}

void add_launch(Explanation& out, const LaunchFacts& launch, int times, const Target& target) {
  const std::string again = times > 1 ? fmt::format(", {} times", times) : "";
  out.emplace_back("kernel", fmt::format("{}, grid {} x {} x {}{}", launch.kernel, launch.grid.x,
                                         launch.grid.y, launch.grid.z, again));
  if (target.is_cuda()) add_blocks(out, launch, target);
  for (const std::string& fault : launch.faults) out.emplace_back("look at", fault);
}

bool is_same(const LaunchFacts& a, const LaunchFacts& b) {
  return a.kernel == b.kernel && a.grid == b.grid;
}

// A run of thousands of events is not looked at bar by bar.
constexpr std::size_t most_bars = 400;

std::string lane_of(const TraceEvent& event) {
  return event.device < 0 ? "host" : fmt::format("GPU stream {}", event.thread);
}

}  // namespace

std::vector<TimelineEvent> timeline_of(const std::function<void()>& run) {
  std::vector<TimelineEvent> bars;
  try {
    const Profile taken = profile(run);
    const Trace& trace = taken.trace();
    for (const TraceEvent& event : trace.events) {
      const bool is_shown = is_on_device(event.kind) || is_on_host(event.kind);
      if (!is_shown || bars.size() == most_bars) continue;
      bars.push_back({lane_of(event), trace.name(event),
                      static_cast<double>(event.start - trace.begin()) * 1e-9,
                      static_cast<double>(event.end - event.start) * 1e-9});
    }
  } catch (const ArgumentError&) {
    bars.clear();
  }
  return bars;
}

Explanation explain(const Record& record, const Evidence& evidence, const Target& target,
                    const Ceilings& ceilings) {
  Explanation out;
  if (!evidence.problem.empty()) return {{"problem", evidence.problem}};
  if (record.bytes_moved > 0) add_roofline(out, record, work_of(record, evidence), ceilings);
  const std::vector<LaunchFacts>& launches = evidence.launches;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto same = [&](const LaunchFacts& other) { return is_same(launches[i], other); };
    if (std::any_of(launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(i), same))
      continue;
    add_launch(out, launches[i],
               static_cast<int>(std::count_if(launches.begin(), launches.end(), same)), target);
  }
  if (!evidence.counters) return out;
  for (auto& [topic, text] : counter_lines(*evidence.counters)) out.emplace_back(topic, text);
  for (const std::string& fault : faults_in_counters(*evidence.counters))
    out.emplace_back("look at", fault);
  return out;
}

void explain_all(Report& report, const Target& target) {
  for (Record& record : report.records)
    if (record.evidence && record.is_measured() && !record.evidence->launches.empty())
      record.explanation = explain(record, *record.evidence, target, report.ceilings);
}

}  // namespace tilewright::suite
