// SPDX-License-Identifier: Apache-2.0
// profile/trace.h — everything that was recorded: events with names by number, in lanes.
//
// A lane is a row of the timeline: a thread of the host, or a stream of a device. Events of one
// host lane nest by their times. Device work carries the correlation number of the call that
// started it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilewright {

enum class TraceKind : std::uint8_t {
  // On the host; the first five are those of EventKind.
  Range,
  Launch,
  Compile,
  Tensor,
  Wait,
  Call,  // of CUDA's runtime or driver
  // On a device.
  Kernel,
  Copy,
  Fill,
  // Neither has a place in the nesting.
  Overhead,  // of the recording itself
  Memory,    // `bytes` taken or given back at `start`
};
std::string_view name_of(TraceKind kind);
inline bool is_on_device(TraceKind kind) {
  return kind == TraceKind::Kernel || kind == TraceKind::Copy || kind == TraceKind::Fill;
}
inline bool is_on_host(TraceKind kind) { return kind <= TraceKind::Call; }

struct TraceEvent {
  std::int64_t start = 0;  // nanoseconds of event_clock()
  std::int64_t end = 0;
  std::int64_t bytes = 0;
  std::uint32_t name = 0;         // of Trace::texts
  std::uint32_t detail = 0;       // likewise; 0 is the empty text
  std::uint32_t correlation = 0;  // 0: none
  std::uint32_t thread = 0;       // host: the thread; device: the stream
  std::int32_t device = -1;       // -1: the host
  std::uint32_t grid[3] = {};     // of Kernel
  std::uint32_t block[3] = {};
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;
  TraceKind kind = TraceKind::Range;
};

struct TraceDevice {
  std::int32_t device = 0;
  std::int32_t processors = 0;
  std::string name;
  std::string architecture = {};  // "sm_90a"; empty when it is not known
};

struct Trace {
  std::vector<std::string> texts = {""};
  std::vector<TraceEvent> events;  // by start once finish() was called
  std::vector<TraceDevice> devices;
  std::vector<std::string> notes;
  std::string process = "host";

  const std::string& text(std::uint32_t number) const { return texts[number]; }
  const std::string& name(const TraceEvent& event) const { return texts[event.name]; }
  std::uint32_t number_of(std::string_view text);  // a new one when it is unknown
  const TraceDevice* find_device(std::int32_t device) const;
  std::int64_t begin() const;
  std::int64_t end() const;

  // Sorts, so that an event comes before those nested in it.
  void finish();

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace tilewright
