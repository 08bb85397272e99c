// SPDX-License-Identifier: Apache-2.0
// runtime/buffer.cpp — allocation, wrapping and the end of buffers.
#include "tilewright/buffer.h"

#include <exception>

#include "base/check.h"
#include "base/events.h"
#include "base/log.h"
#include "runtime/backend.h"
#include "runtime/buffer_state.h"

namespace tilewright {
namespace {

void tell_memory(Device device, MemoryKind kind, std::int64_t bytes) {
  EventListener* listener = listening();
  if (!listener) return;
  const bool is_on_device = device.is_cuda() && kind != MemoryKind::Pinned;
  listener->on_memory(is_on_device ? device.index : -1, bytes);
}

}  // namespace

void StreamSet::add(void* stream) {
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(stream) + 1;
  for (std::atomic<std::uintptr_t>& slot : slots_) {
    std::uintptr_t held = slot.load(std::memory_order_relaxed);
    if (held == 0 && slot.compare_exchange_strong(held, word)) return;
    if (held == word) return;
  }
  const std::lock_guard lock(mutex_);
  for (void* known : more_)
    if (known == stream) return;
  more_.push_back(stream);
}

std::vector<void*> StreamSet::all() const {
  std::vector<void*> streams;
  for (const std::atomic<std::uintptr_t>& slot : slots_)
    if (const std::uintptr_t word = slot.load())
      streams.push_back(reinterpret_cast<void*>(word - 1));
  streams.insert(streams.end(), more_.begin(), more_.end());
  return streams;
}

// Destructors do not throw: a release function or a driver that fails is reported, and the memory
// stays lost.
Buffer::State::~State() {
  try {
    if (release) release();
    if (is_ours && data) {
      const std::vector<void*> streams = other_streams.all();
      backend(device).free(data, bytes, device.index, kind, stream, streams);
      tell_memory(device, kind, -static_cast<std::int64_t>(bytes));
    }
  } catch (const std::exception& error) {
    warn_once(fmt::format("memory of {} could not be freed: {}", device.name(), error.what()));
  }
}

Buffer Buffer::allocate(std::size_t bytes, Device device, MemoryKind kind) {
  return allocate(bytes, device, kind, current_stream(device));
}

Buffer Buffer::allocate(std::size_t bytes, Device device, MemoryKind kind, const Stream& stream) {
  if (stream.device() != device)
    throw ArgumentError(fmt::format("memory of {} cannot be allocated for a stream of {}",
                                    device.name(), stream.device().name()));
  Backend& owner = checked_backend(device);
  auto state = std::make_shared<State>();
  state->bytes = bytes;
  state->device = device;
  state->kind = kind;
  state->stream = stream.native();
  if (bytes > 0) state->data = owner.allocate(bytes, device.index, kind, stream.native());
  state->is_ours = true;
  tell_memory(device, kind, static_cast<std::int64_t>(bytes));
  return Buffer(std::move(state));
}

Buffer Buffer::wrap(void* data, std::size_t bytes, Device device, std::function<void()> release) {
  if (!data && bytes > 0)
    throw ArgumentError(
        fmt::format("a null address cannot be wrapped as {} bytes of {}", bytes, device.name()));
  auto state = std::make_shared<State>();
  state->data = data;
  state->bytes = bytes;
  state->device = device;
  state->release = std::move(release);
  return Buffer(std::move(state));
}

void* Buffer::data() const { return state_ ? state_->data : nullptr; }
std::size_t Buffer::size() const { return state_ ? state_->bytes : 0; }
Device Buffer::device() const { return state_ ? state_->device : Device::cpu(); }
MemoryKind Buffer::kind() const { return state_ ? state_->kind : MemoryKind::Device; }

bool Buffer::is_host_accessible() const {
  return device().is_cpu() || kind() != MemoryKind::Device;
}

void Buffer::record_use(const Stream& stream) const {
  if (state_) state_->record_use(stream.native());
}

}  // namespace tilewright
