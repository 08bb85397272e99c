// SPDX-License-Identifier: Apache-2.0
// runtime/buffer_state.h — what a Buffer owns: an address, where it came from, and which streams
// used it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "tilewright/buffer.h"

namespace tilewright {

// The streams other than the allocating one that used a block. Adding a stream that is there
// already, which is what a repeated launch does, reads one to four words and takes no lock.
class StreamSet {
 public:
  void add(void* stream);
  std::vector<void*> all() const;

 private:
  // A free slot is 0, a stream its address + 1, since null is a stream too.
  std::array<std::atomic<std::uintptr_t>, 4> slots_{};
  std::mutex mutex_;
  std::vector<void*> more_;
};

struct Buffer::State {
  void* data = nullptr;
  std::size_t bytes = 0;
  Device device;
  MemoryKind kind = MemoryKind::Device;
  bool is_ours = false;    // given back to the backend, not to `release`
  void* stream = nullptr;  // the stream it was allocated for
  std::function<void()> release;
  StreamSet other_streams;

  State() = default;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void record_use(void* user) {
    if (user != stream && is_ours && device.is_cuda()) other_streams.add(user);
  }
};

}  // namespace tilewright
