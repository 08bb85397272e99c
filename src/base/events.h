// SPDX-License-Identifier: Apache-2.0
// base/events.h — what the library tells a profiler: what ran when, and how much memory is in use.
//
// While nobody listens, an event costs one relaxed load of a pointer. Listeners come and go with
// set_event_listener; they are called from any thread and must not throw.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

enum class EventKind : std::uint8_t {
  Range,    // named by the user
  Launch,   // of a kernel: on the CPU its whole run, on CUDA the queueing
  Compile,  // a phase of the compiler, or a compiler that was started
  Tensor,   // work on tensors: copies, fills, random numbers
  Wait,     // the host waits for a device
};

// Texts are valid during the call only.
struct HostEvent {
  EventKind kind = EventKind::Range;
  std::string_view name;
  std::string_view detail;  // "grid 4 x 1 x 1", "float32 [8192, 781]"; may be empty
  std::int64_t start = 0;   // of event_clock()
  std::int64_t end = 0;
  std::int64_t bytes = 0;  // moved; 0: unknown
};

class EventListener {
 public:
  virtual void on_event(const HostEvent& event) = 0;
  // Memory of a device (-1: the host) that was taken, or given back (negative).
  virtual void on_memory(int device, std::int64_t bytes) = 0;

 protected:
  ~EventListener() = default;
};

inline std::atomic<EventListener*> event_listener{nullptr};
inline EventListener* listening() { return event_listener.load(std::memory_order_acquire); }

// Nanoseconds of the monotonic clock.
std::int64_t event_clock();
// The operating system's number of the calling thread.
std::uint32_t event_thread();

// An event from here to the end of the scope.
class EventScope {
 public:
  EventScope(EventKind kind, std::string_view name)
      : listener_(listening()), kind_(kind), name_(name) {
    if (listener_) [[unlikely]]
      start_ = event_clock();
  }
  ~EventScope() {
    if (listener_) [[unlikely]]
      finish();
  }
  EventScope(const EventScope&) = delete;
  EventScope& operator=(const EventScope&) = delete;

  bool is_heard() const { return listener_ != nullptr; }  // else a detail need not be made
  void describe(std::string detail, std::int64_t bytes = 0) {
    detail_ = std::move(detail);
    bytes_ = bytes;
  }

 private:
  void finish() const;

  EventListener* listener_;
  EventKind kind_;
  std::string_view name_;  // must outlive the scope
  std::string detail_;
  std::int64_t start_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace tilewright
