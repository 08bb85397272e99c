// SPDX-License-Identifier: Apache-2.0
// profile/traces.h — traces made by hand, in microseconds.
#pragma once

#include <string>

#include "profile/trace.h"

namespace tilewright {

struct Made {
  Trace trace;

  TraceEvent& host(TraceKind kind, const std::string& name, double start, double end,
                   std::uint32_t thread = 1) {
    TraceEvent event;
    event.kind = kind;
    event.name = trace.number_of(name);
    event.start = static_cast<std::int64_t>(start * 1000);
    event.end = static_cast<std::int64_t>(end * 1000);
    event.thread = thread;
    trace.events.push_back(event);
    return trace.events.back();
  }
  TraceEvent& call(const std::string& name, double start, double end, std::uint32_t correlation) {
    TraceEvent& event = host(TraceKind::Call, name, start, end);
    event.correlation = correlation;
    return event;
  }
  TraceEvent& kernel(const std::string& name, double start, double end, std::uint32_t correlation) {
    TraceEvent& event = host(TraceKind::Kernel, name, start, end, 7);
    event.correlation = correlation;
    event.device = 0;
    for (int axis = 0; axis < 3; ++axis) event.grid[axis] = event.block[axis] = 1;
    event.grid[0] = 1000;
    event.block[0] = 128;
    return event;
  }
};

}  // namespace tilewright
