// SPDX-License-Identifier: Apache-2.0
// runtime/stream.cpp — the pool of streams and each thread's current stream.
#include "tilewright/stream.h"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/events.h"
#include "runtime/backend.h"

namespace tilewright {
namespace {

constexpr int streams_per_device = 32;
constexpr int max_devices = 64;

// The handles of the calling thread's current streams by CUDA device; null is the default stream.
// The CPU has no handles.
thread_local std::array<void*, max_devices> current_handles{};

void*& current_handle(Device device) {
  if (device.index < 0 || device.index >= max_devices)
    throw MissingError(fmt::format("there is no device {} on this machine", device.name()));
  return current_handles[static_cast<std::size_t>(device.index)];
}

// Streams of one device, made when first asked for and never destroyed: buffers and events remember
// their handles.
struct StreamPool {
  std::mutex mutex;
  std::vector<void*> handles;
  std::size_t next = 0;

  void* take(Backend& owner, int index) {
    const std::lock_guard lock(mutex);
    if (handles.size() < streams_per_device) {
      handles.push_back(owner.create_stream(index));
      return handles.back();
    }
    return handles[next++ % streams_per_device];
  }
};

StreamPool& pool_of(int index) {
  static auto* const pools = new std::array<StreamPool, max_devices>;
  return pools->at(static_cast<std::size_t>(index));
}

}  // namespace

Stream::Stream() : Stream(current_stream(default_device())) {}

Stream Stream::create(Device device) {
  Backend& owner = checked_backend(device);
  if (device.is_cpu()) return Stream(device, nullptr);
  return Stream(device, pool_of(device.index).take(owner, device.index));
}

Stream Stream::default_of(Device device) {
  checked_backend(device);
  return Stream(device, nullptr);
}

Stream Stream::wrap(void* native) {
  return Stream(Device::cuda(backend(DeviceKind::Cuda).device_of_stream(native)), native);
}

void Stream::synchronize() const {
  const EventScope event(EventKind::Wait, "Stream::synchronize");
  backend(device_).synchronize_stream(device_.index, native_);
}

bool Stream::is_idle() const { return backend(device_).is_stream_idle(device_.index, native_); }

Stream current_stream(Device device) {
  if (device.is_cpu()) return Stream::wrap(nullptr, device);
  return Stream::wrap(current_handle(device), device);
}

StreamGuard::StreamGuard(Stream stream) : previous_(current_stream(stream.device())) {
  if (stream.device().is_cuda()) current_handle(stream.device()) = stream.native();
}

StreamGuard::~StreamGuard() {
  if (previous_.device().is_cuda()) current_handle(previous_.device()) = previous_.native();
}

}  // namespace tilewright
