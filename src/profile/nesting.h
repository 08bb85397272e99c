// SPDX-License-Identifier: Apache-2.0
// profile/nesting.h — which event lies in which, and how long each took by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/trace.h"

namespace tilewright {

struct Nesting {
  static constexpr std::uint32_t none = 0xffffffff;
  // By index of the trace's events:
  std::vector<std::uint32_t> parent;       // device work: the call that started it
  std::vector<std::int64_t> self_host;     // nanoseconds; 0 for device work
  std::vector<std::int64_t> total_device;  // of device work started inside
};

// The trace must be finished.
Nesting nest(const Trace& trace);

// The events around it from the outermost on, and itself.
std::vector<std::uint32_t> path_to(const Trace& trace, const Nesting& nesting, std::uint32_t event);

// Their names: "step > forward > gelu".
std::string stack_of(const Trace& trace, const Nesting& nesting, std::uint32_t event,
                     const char* separator);

}  // namespace tilewright
