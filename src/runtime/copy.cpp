// SPDX-License-Identifier: Apache-2.0
// runtime/copy.cpp — checks copies and fills, and gives them to the backend that can do them.
#include "base/check.h"
#include "base/events.h"
#include "runtime/backend.h"
#include "tilewright/buffer.h"

namespace tilewright {
namespace {

void check_range(const BufferSlice& slice, std::size_t bytes, const char* what, const char* role) {
  if (!slice.buffer)
    throw ArgumentError(
        fmt::format("the {} of a {} has no memory; allocate the buffer first", role, what));
  const std::size_t size = slice.buffer.size();
  if (slice.offset > size || bytes > size - slice.offset)
    throw ArgumentError(
        fmt::format("a {} of {} bytes at offset {} does not fit in the {} of {} bytes", what, bytes,
                    slice.offset, role, size));
}

// Work on a CPU stream is done by the CPU, which must reach the memory; all else is the driver's.
void check_reachable(const BufferSlice& slice, const Stream& stream, const char* what) {
  if (stream.device().is_cpu() && !slice.buffer.is_host_accessible())
    throw ArgumentError(
        fmt::format("a {} in memory of {} needs a stream of that device, got one of cpu", what,
                    slice.buffer.device().name()));
}

std::byte* address_of(const BufferSlice& slice) {
  return static_cast<std::byte*>(slice.buffer.data()) + slice.offset;
}

}  // namespace

void copy_async(BufferSlice destination, BufferSlice source, std::size_t bytes,
                const Stream& stream) {
  check_range(destination, bytes, "copy", "destination");
  check_range(source, bytes, "copy", "source");
  check_reachable(destination, stream, "copy");
  check_reachable(source, stream, "copy");
  if (bytes == 0) return;
  EventScope event(EventKind::Tensor, "copy");
  event.describe("", static_cast<std::int64_t>(bytes));
  backend(stream.device())
      .copy(address_of(destination), address_of(source), bytes, stream.device().index,
            stream.native());
  destination.buffer.record_use(stream);
  source.buffer.record_use(stream);
}

void fill_async(BufferSlice destination, std::size_t bytes, std::span<const std::byte> pattern,
                const Stream& stream) {
  const std::size_t width = pattern.size();
  if (width != 1 && width != 2 && width != 4 && width != 8)
    throw ArgumentError(fmt::format("a fill pattern has 1, 2, 4 or 8 bytes, got {}", width));
  check_range(destination, bytes, "fill", "destination");
  if (bytes % width != 0)
    throw ArgumentError(
        fmt::format("a fill of {} bytes is not a whole number of {}-byte patterns", bytes, width));
  if (reinterpret_cast<std::uintptr_t>(address_of(destination)) % width != 0)
    throw ArgumentError(fmt::format("a fill at offset {} is not aligned to its {}-byte pattern",
                                    destination.offset, width));
  check_reachable(destination, stream, "fill");
  if (stream.device().is_cuda() && destination.buffer.device().is_cpu())
    throw ArgumentError(
        fmt::format("a fill in memory of cpu needs a stream of that device, got one of {}",
                    stream.device().name()));
  if (bytes == 0) return;
  EventScope event(EventKind::Tensor, "fill");
  event.describe("", static_cast<std::int64_t>(bytes));
  backend(stream.device())
      .fill(address_of(destination), bytes, pattern, stream.device().index, stream.native());
  destination.buffer.record_use(stream);
}

}  // namespace tilewright
