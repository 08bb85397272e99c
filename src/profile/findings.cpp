// SPDX-License-Identifier: Apache-2.0
// profile/findings.cpp — what stands out in a trace, as sentences: the host that waits, the device
// that idles because of the host, kernels with too few blocks or an idle tail.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/units.h"
#include "profile/nesting.h"
#include "runtime/occupancy.h"
#include "tilewright/error.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

constexpr double worth_saying = 0.02;          // of the whole time
constexpr std::int64_t shortest_wait = 2'000;  // nanoseconds
constexpr std::int64_t shortest_gap = 5'000;
constexpr std::int64_t pause = 20'000'000;  // a longer gap is another phase: a start, a compilation

std::string seconds_text(std::int64_t nanoseconds) {
  return format_seconds(static_cast<double>(nanoseconds) * 1e-9);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.0f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

bool is_wait(const Trace& trace, const TraceEvent& event) {
  if (event.kind == TraceKind::Wait) return true;
  if (event.kind != TraceKind::Call) return false;
  const std::string& name = trace.name(event);
  return name.find("Synchronize") != std::string::npos || name == "cudaMemcpy" ||
         name.find("MemcpyDtoH") != std::string::npos;
}

// The device's work of one kind of place, joined where it overlaps.
struct Busy {
  std::int64_t start;
  std::int64_t end;
  std::uint32_t first;  // event that begins it
};

std::map<int, std::vector<Busy>> busy_times(const Trace& trace) {
  std::map<int, std::vector<Busy>> all;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (!is_on_device(event.kind)) continue;
    std::vector<Busy>& times = all[event.device];
    if (!times.empty() && event.start <= times.back().end)
      times.back().end = std::max(times.back().end, event.end);
    else times.push_back({event.start, event.end, i});
  }
  return all;
}

// From a device's first work to its last, without pauses.
std::int64_t active_time(const std::vector<Busy>& times) {
  std::int64_t total = times.empty() ? 0 : times.back().end - times.front().start;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i].start - times[i - 1].end > pause) total -= times[i].start - times[i - 1].end;
  return total;
}

// What shares are counted of: the time in which devices were at work, or all of it without devices.
std::int64_t whole_time(const Trace& trace, const std::map<int, std::vector<Busy>>& busy) {
  std::int64_t longest = 0;
  for (const auto& [device, times] : busy) longest = std::max(longest, active_time(times));
  return std::max<std::int64_t>(longest > 0 ? longest : trace.end() - trace.begin(), 1);
}

// How long the devices had nothing to do after a wait that ended at `at`.
std::int64_t idle_after(const std::map<int, std::vector<Busy>>& busy, std::int64_t at) {
  std::int64_t idle = 0;
  for (const auto& [device, times] : busy) {
    const auto next = std::upper_bound(times.begin(), times.end(), at,
                                       [](std::int64_t t, const Busy& b) { return t < b.start; });
    if (next == times.begin() || next == times.end()) continue;
    const std::int64_t gap = next->start - (next - 1)->end;
    if ((next - 1)->end <= at && gap >= shortest_gap && gap < pause) idle = std::max(idle, gap);
  }
  return idle;
}

// The innermost range around an event, where the user named one.
std::string range_text(const Trace& trace, const Nesting& nesting, std::uint32_t event) {
  std::string inside;
  for (std::uint32_t at = nesting.parent[event]; at != Nesting::none; at = nesting.parent[at])
    if (trace.events[at].kind == TraceKind::Range && inside.empty())
      inside = fmt::format(" (in '{}')", trace.name(trace.events[at]));
  return inside;
}

void find_waits(const Trace& trace, const Nesting& nesting, std::vector<std::string>& out) {
  struct Waits {
    std::int64_t total = 0, longest = 0, idle = 0;
    int count = 0;
    std::uint32_t longest_event = 0;
  };
  const auto busy = busy_times(trace);
  std::map<std::string, Waits> waits;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (!is_wait(trace, event) || event.end - event.start < shortest_wait) continue;
    // A wait inside another is told once, by the outer one.
    if (nesting.parent[i] != Nesting::none && is_wait(trace, trace.events[nesting.parent[i]]))
      continue;
    Waits& of = waits[trace.name(event)];
    of.total += event.end - event.start;
    of.idle += idle_after(busy, event.end);
    ++of.count;
    if (event.end - event.start <= of.longest) continue;
    of.longest = event.end - event.start;
    of.longest_event = i;
  }
  const std::int64_t whole = whole_time(trace, busy);
  for (const auto& [name, of] : waits) {
    if (static_cast<double>(of.total + of.idle) < worth_saying * static_cast<double>(whole))
      continue;
    std::string idle;
    if (of.idle > 0) idle = fmt::format(", and the GPU then idled for {}", seconds_text(of.idle));
    out.push_back(fmt::format(
        "the host waited {} for the device in {} call{} of {}{} ({} of the time), the longest {} "
        "at "
        "{}{}: until it returns nothing new is queued; read results (print, item, copies to the "
        "host) less often",
        seconds_text(of.total), of.count, of.count == 1 ? "" : "s", name, idle,
        share_text(of.total + of.idle, whole), seconds_text(of.longest),
        seconds_text(trace.events[of.longest_event].start - trace.begin()),
        range_text(trace, nesting, of.longest_event)));
  }
}

void find_gaps(const Trace& trace, const Nesting& nesting, std::vector<std::string>& out) {
  for (const auto& [device, times] : busy_times(trace)) {
    std::int64_t late = 0;
    int count = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
      const std::int64_t gap = times[i].start - times[i - 1].end;
      const std::uint32_t call = nesting.parent[times[i].first];
      if (gap < shortest_gap || gap > pause || call == Nesting::none) continue;
      // The host is late when the work was not queued yet when the device became idle.
      if (trace.events[call].end <= times[i - 1].end) continue;
      late += gap;
      ++count;
    }
    const std::int64_t span = active_time(times);
    if (count == 0 || static_cast<double>(late) < worth_saying * static_cast<double>(span))
      continue;
    out.push_back(
        fmt::format("GPU {} was idle for {} ({} of its {}) in {} gap{} because the host had not "
                    "queued the next work yet: launch less and larger work, or a CUDA graph",
                    device, seconds_text(late), share_text(late, span), seconds_text(span), count,
                    count == 1 ? "" : "s"));
  }
}

void find_small_grids(const Trace& trace, std::vector<std::string>& out) {
  struct Small {
    std::int64_t total = 0;
    std::uint64_t blocks = 0;
    int device = 0;
  };
  std::map<std::string, Small> kernels;
  std::int64_t all = 0;
  for (const TraceEvent& event : trace.events) {
    if (event.kind != TraceKind::Kernel) continue;
    all += event.end - event.start;
    const TraceDevice* device = trace.find_device(event.device);
    const std::uint64_t blocks = std::uint64_t{event.grid[0]} * event.grid[1] * event.grid[2];
    if (!device || static_cast<double>(blocks) > 0.75 * device->processors) continue;
    Small& of = kernels[trace.name(event)];
    of.total += event.end - event.start;
    of.blocks = blocks;
    of.device = event.device;
  }
  for (const auto& [name, of] : kernels) {
    if (static_cast<double>(of.total) < 5 * worth_saying * static_cast<double>(all)) continue;
    const auto processors = static_cast<std::uint64_t>(trace.find_device(of.device)->processors);
    out.push_back(fmt::format(
        "kernel '{}' ({} of the device's time) has {} block{} for {} processors: {} of GPU {} "
        "idles; give it more and smaller blocks",
        name.substr(0, 80), share_text(of.total, all), of.blocks, of.blocks == 1 ? "" : "s",
        processors,
        share_text(static_cast<std::int64_t>(processors - of.blocks),
                   static_cast<std::int64_t>(processors)),
        of.device));
  }
}

// Threads, registers and shared memory of a kernel and its grid tell how full its last wave is.
std::string tail_of(const Trace& trace, const TraceEvent& event) {
  const TraceDevice* device = trace.find_device(event.device);
  if (!device || device->architecture.empty() || event.registers == 0) return {};
  const std::int64_t blocks = std::int64_t{event.grid[0]} * event.grid[1] * event.grid[2];
  if (blocks <= device->processors) return {};  // told by find_small_grids, or few
  try {
    Target target = Target::parse(device->architecture);
    target.processors = device->processors;
    const Occupancy o =
        occupancy(target, {static_cast<int>(event.block[0] * event.block[1] * event.block[2]),
                           static_cast<int>(event.registers), event.shared_bytes});
    return tail_fault(waves_of(target, o, blocks));
  } catch (const ArgumentError&) {
    return {};  // of an architecture that is not known here
  }
}

void find_tails(const Trace& trace, std::vector<std::string>& out) {
  struct Tail {
    std::int64_t total = 0;
    std::string text;
  };
  std::map<std::string, Tail> kernels;
  std::int64_t all = 0;
  for (const TraceEvent& event : trace.events) {
    if (event.kind != TraceKind::Kernel) continue;
    all += event.end - event.start;
    std::string text = tail_of(trace, event);
    if (text.empty()) continue;
    Tail& of = kernels[trace.name(event)];
    of.total += event.end - event.start;
    of.text = std::move(text);
  }
  for (const auto& [name, of] : kernels)
    if (static_cast<double>(of.total) >= 5 * worth_saying * static_cast<double>(all))
      out.push_back(fmt::format("kernel '{}' ({} of the device's time): {}", name.substr(0, 80),
                                share_text(of.total, all), of.text));
}

}  // namespace

std::vector<std::string> Profile::findings() const {
  std::vector<std::string> out;
  const Nesting nesting = nest(trace());
  find_waits(trace(), nesting, out);
  find_gaps(trace(), nesting, out);
  find_small_grids(trace(), out);
  find_tails(trace(), out);
  return out;
}

}  // namespace tilewright
