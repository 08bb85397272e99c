// SPDX-License-Identifier: Apache-2.0
// profile/profile.cpp — recording a call, ranges, and the span and memory of a profile.
#include "tilewright/profile.h"

#include <algorithm>
#include <map>

#include "base/nvtx.h"
#include "profile/cuda_activity.h"
#include "profile/devices.h"
#include "profile/recorder.h"

namespace tilewright {

Range::Range(std::string_view name) : name_(name) {
  is_in_nvtx_ = nvtx_push(name_);
  if (listening()) start_ = event_clock();
}

Range::~Range() {
  if (is_in_nvtx_) nvtx_pop();
  EventListener* listener = listening();
  if (!listener || start_ == 0) return;
  listener->on_event(
      {.kind = EventKind::Range, .name = name_, .start = start_, .end = event_clock()});
}

Profile::Profile() : trace_(std::make_shared<Trace>()) {}

const std::vector<std::string>& Profile::notes() const { return trace().notes; }

double Profile::seconds() const {
  return static_cast<double>(trace().end() - trace().begin()) * 1e-9;
}

std::int64_t Profile::peak_bytes(int device) const {
  std::int64_t now = 0, peak = 0;
  for (const TraceEvent& event : trace().events) {
    if (event.kind != TraceKind::Memory || event.device != device) continue;
    now += event.bytes;
    peak = std::max(peak, now);
  }
  return peak;
}

Profile profile(const std::function<void()>& run, const ProfileOptions& options) {
  Recorder recorder;
  recorder.start();
  const bool has_cuda = options.device && has_cuda_devices();
  if (has_cuda) {
    note_devices(recorder);
    start_cuda_activity(recorder);
  }
  // Also when `run` throws: CUPTI must not write to a recorder that is gone.
  struct Ending {
    Recorder& recorder;
    bool has_cuda;
    ~Ending() {
      if (has_cuda) stop_cuda_activity();
      recorder.stop();
    }
  };
  {
    const Ending ending{recorder, has_cuda};
    run();
    if (has_cuda) synchronize_devices();
  }
  auto trace = std::make_shared<Trace>(recorder.take());
  trace->finish();
  return Profile(std::move(trace));
}

}  // namespace tilewright
