// SPDX-License-Identifier: Apache-2.0
// tilewright/buffer.h — reference-counted memory on a device, and asynchronous copies and fills.
//
// Memory is cached: freeing gives it back to our allocator, and allocating the same size again is
// fast and, on the CPU, faults no page. On CUDA a freed block is reused at once by the stream it
// was allocated for, and by others only when every stream that used it has passed that point, so
// freeing never waits for the device. CPU memory is 64-byte aligned, and on huge pages from 2 MiB
// up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tilewright/stream.h"

namespace tilewright {

enum class MemoryKind : std::uint8_t {
  Device,   // the device's own memory; on the CPU, host memory
  Pinned,   // host memory that the GPU copies from and to asynchronously
  Managed,  // one address for host and GPU
};

class Buffer {
 public:
  Buffer() = default;  // no memory; size 0

  // `stream` is the stream that will use the memory first. Throws OutOfMemory, which says how much
  // was asked and free.
  static Buffer allocate(std::size_t bytes, Device device, MemoryKind kind = MemoryKind::Device);
  static Buffer allocate(std::size_t bytes, Device device, MemoryKind kind, const Stream& stream);
  // Someone else's memory: `release` (may be empty) is called when the last reference goes.
  static Buffer wrap(void* data, std::size_t bytes, Device device,
                     std::function<void()> release = {});

  void* data() const;
  std::size_t size() const;
  Device device() const;
  MemoryKind kind() const;
  bool is_host_accessible() const;
  explicit operator bool() const { return state_ != nullptr; }
  long use_count() const { return state_.use_count(); }

  // Tells the allocator that `stream` uses this memory, so that it is not reused before that stream
  // is past this point. Launches and copies of this library do it themselves.
  void record_use(const Stream& stream) const;

  struct State;
  State* state() const { return state_.get(); }

 private:
  explicit Buffer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// A place in a buffer.
struct BufferSlice {
  const Buffer& buffer;
  std::size_t offset = 0;
};

// Copies between any two memories, in stream order. The host does not wait, except where the driver
// must (a copy from or to pageable host memory).
void copy_async(BufferSlice destination, BufferSlice source, std::size_t bytes,
                const Stream& stream);
// Repeats a pattern of 1, 2, 4 or 8 bytes over `bytes` bytes.
void fill_async(BufferSlice destination, std::size_t bytes, std::span<const std::byte> pattern,
                const Stream& stream);

}  // namespace tilewright
