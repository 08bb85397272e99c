// SPDX-License-Identifier: Apache-2.0
// profile/trace.cpp — names, order and span of a trace.
#include "profile/trace.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tilewright {

std::string_view name_of(TraceKind kind) {
  constexpr std::string_view names[] = {"range",  "launch", "compile", "tensor",   "wait",  "call",
                                        "kernel", "copy",   "fill",    "overhead", "memory"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint32_t Trace::number_of(std::string_view text) {
  if (text.empty()) return 0;
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts.size()));
  if (is_new) texts.emplace_back(text);
  return found->second;
}

const TraceDevice* Trace::find_device(std::int32_t device) const {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const TraceDevice& known) { return known.device == device; });
  return found == devices.end() ? nullptr : &*found;
}

std::int64_t Trace::begin() const {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const TraceEvent& event : events) first = std::min(first, event.start);
  return events.empty() ? 0 : first;
}

std::int64_t Trace::end() const {
  std::int64_t last = 0;
  for (const TraceEvent& event : events) last = std::max(last, event.end);
  return last;
}

void Trace::finish() {
  std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
    return std::tuple(a.start, -a.end) < std::tuple(b.start, -b.end);
  });
}

}  // namespace tilewright
