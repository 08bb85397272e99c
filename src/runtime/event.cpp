// SPDX-License-Identifier: Apache-2.0
// runtime/event.cpp — events, and streams that wait for them.
#include <atomic>

#include "base/check.h"
#include "runtime/backend.h"
#include "tilewright/stream.h"

namespace tilewright {

struct Event::State {
  Device device;
  void* native;
  std::atomic<bool> is_recorded = false;

  explicit State(Device owner)
      : device(owner), native(checked_backend(owner).create_event(owner.index)) {}
  ~State() { backend(device).destroy_event(device.index, native); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Event::Event(Device device) : device_(device), state_(std::make_shared<State>(device)) {}

void Event::record(const Stream& stream) {
  if (stream.device() != device_)
    throw ArgumentError(fmt::format("an event of {} cannot be recorded on a stream of {}",
                                    device_.name(), stream.device().name()));
  backend(device_).record_event(device_.index, state_->native, stream.native());
  state_->is_recorded = true;
}

void Event::synchronize() const {
  if (state_->is_recorded) backend(device_).synchronize_event(device_.index, state_->native);
}

bool Event::is_done() const {
  return !state_->is_recorded || backend(device_).is_event_done(device_.index, state_->native);
}

double Event::seconds_since(const Event& start) const {
  if (!state_->is_recorded || !start.state_->is_recorded)
    throw ArgumentError(
        "the time between two events needs both recorded; call record on each first");
  if (start.device_ != device_)
    throw ArgumentError(fmt::format("an event of {} and one of {} have no time between them",
                                    start.device_.name(), device_.name()));
  start.synchronize();
  synchronize();
  return backend(device_).seconds_between(device_.index, start.state_->native, state_->native);
}

void* Event::native() const { return device_.is_cpu() ? nullptr : state_->native; }

// A CPU stream has done its work when a call returns: what it is to wait for is waited for here,
// and its own events are past. The driver is asked even when the event may be done: during a graph
// capture that is what joins two streams.
void Stream::wait(const Event& event) const {
  if (device_.is_cpu()) {
    event.synchronize();
    return;
  }
  if (event.device().is_cuda()) backend(device_).wait_event(device_.index, native_, event.native());
}

}  // namespace tilewright
