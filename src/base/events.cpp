// SPDX-License-Identifier: Apache-2.0
// base/events.cpp — the clock of events, and their end.
#include "base/events.h"

#include <time.h>
#include <unistd.h>

namespace tilewright {

std::int64_t event_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint32_t event_thread() {
  thread_local const auto number = static_cast<std::uint32_t>(gettid());
  return number;
}

// A listener that went meanwhile must not be called: it may be gone.
void EventScope::finish() const {
  if (listening() != listener_) return;
  listener_->on_event({.kind = kind_,
                       .name = name_,
                       .detail = detail_,
                       .start = start_,
                       .end = event_clock(),
                       .bytes = bytes_});
}

}  // namespace tilewright
