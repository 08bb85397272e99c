// SPDX-License-Identifier: Apache-2.0
// profile/nesting.cpp — one walk over the events in order of time with a stack per thread.
#include "profile/nesting.h"

#include <algorithm>
#include <unordered_map>

namespace tilewright {
namespace {

bool has_place(const TraceEvent& event) {
  return is_on_host(event.kind) || is_on_device(event.kind);
}

}  // namespace

Nesting nest(const Trace& trace) {
  const std::size_t count = trace.events.size();
  Nesting result{std::vector<std::uint32_t>(count, Nesting::none), std::vector<std::int64_t>(count),
                 std::vector<std::int64_t>(count)};
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> open;  // by thread
  // The innermost call of a number: a runtime call and the driver call inside share theirs.
  std::unordered_map<std::uint32_t, std::uint32_t> calls;
  for (std::uint32_t i = 0; i < count; ++i) {
    const TraceEvent& event = trace.events[i];
    if (!is_on_host(event.kind)) continue;
    std::vector<std::uint32_t>& stack = open[event.thread];
    while (!stack.empty() && trace.events[stack.back()].end < event.end) stack.pop_back();
    result.self_host[i] = event.end - event.start;
    if (!stack.empty()) {
      result.parent[i] = stack.back();
      result.self_host[stack.back()] -= event.end - event.start;
    }
    stack.push_back(i);
    if (event.correlation != 0) calls[event.correlation] = i;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const TraceEvent& event = trace.events[i];
    if (!is_on_device(event.kind)) continue;
    const auto call = calls.find(event.correlation);
    if (call != calls.end()) result.parent[i] = call->second;
    for (std::uint32_t at = i; at != Nesting::none; at = result.parent[at])
      result.total_device[at] += event.end - event.start;
  }
  return result;
}

std::vector<std::uint32_t> path_to(const Trace& trace, const Nesting& nesting,
                                   std::uint32_t event) {
  std::vector<std::uint32_t> path;
  for (std::uint32_t at = event; at != Nesting::none; at = nesting.parent[at])
    if (has_place(trace.events[at])) path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string stack_of(const Trace& trace, const Nesting& nesting, std::uint32_t event,
                     const char* separator) {
  std::string out;
  for (const std::uint32_t at : path_to(trace, nesting, event)) {
    if (!out.empty()) out += separator;
    out += trace.name(trace.events[at]);
  }
  return out;
}

}  // namespace tilewright
