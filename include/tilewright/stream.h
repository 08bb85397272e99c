// SPDX-License-Identifier: Apache-2.0
// tilewright/stream.h — queues of device work, and events that mark and time places in them.
//
// A Stream is a plain value. Streams made by us come from a pool per device and live as long as the
// process, so that no buffer or event can outlive its stream; a caller's stream is wrapped and
// stays the caller's. On the CPU a stream runs its work at once, on the calling thread: when a call
// returns, its work is done.
#pragma once

#include <memory>

#include "tilewright/device.h"

namespace tilewright {

class Event;

class Stream {
 public:
  // The stream that work goes to when none is named: the calling thread's current stream of the
  // default device.
  Stream();

  // A stream of our pool. There are 32 per device; after that they are handed out again in turn.
  static Stream create(Device device);
  // The device's default stream: on CUDA the legacy default stream, which PyTorch also uses.
  static Stream default_of(Device device);
  // A caller's stream (a cudaStream_t, which is a CUstream); null is the current context's default
  // stream.
  static Stream wrap(void* native);
  static Stream wrap(void* native, Device device) { return Stream(device, native); }

  Device device() const { return device_; }
  void* native() const { return native_; }

  void synchronize() const;
  bool is_idle() const;
  void wait(const Event& event)
      const;  // later work of this stream runs after the event; the host does not wait

  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  Stream(Device device, void* native) : device_(device), native_(native) {}
  Device device_;
  void* native_ = nullptr;
};

// The stream of `device` that the calling thread uses when none is named.
Stream current_stream(Device device);

// Makes `stream` the calling thread's current stream of its device for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream previous_;
};

class Event {
 public:
  explicit Event(Device device = default_device());

  void record(const Stream& stream);
  void synchronize() const;
  bool is_done() const;
  // Device time between two recorded events; waits for both.
  double seconds_since(const Event& start) const;
  Device device() const { return device_; }
  void* native() const;  // a CUevent; null on the CPU

 private:
  struct State;
  Device device_;
  std::shared_ptr<State> state_;
};

}  // namespace tilewright
