// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/allocator.cpp — allocation, parking, and what belongs to graphs.
#include "runtime/cuda/allocator.h"

#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/errors.h"

namespace tilewright::cuda {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr std::size_t parked_per_call =
    16;  // looked at by an ordinary allocation, so that its time is bounded

// A destroyed stream's handle may come back as another stream; its id does not. Asking for the id
// ends a capture of the stream, so that memory of a capture goes by the handle.
std::uint64_t id_of(CUstream stream, bool is_captured) {
  unsigned long long id = 0;
  if (is_captured) return reinterpret_cast<std::uintptr_t>(stream);
  if (driver().cuStreamGetId(stream, &id) == CUDA_SUCCESS) return id;
  return reinterpret_cast<std::uintptr_t>(stream);
}

std::size_t free_device_bytes() {
  std::size_t free = 0, total = 0;
  return driver().cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS ? free : 0;
}

std::size_t free_host_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool counts(MemoryKind kind) { return kind != MemoryKind::Pinned; }

}  // namespace

std::size_t Allocator::rounded_size(std::size_t bytes) {
  const std::size_t unit = bytes <= mib ? 512 : bytes <= 8 * mib ? 256 * kib : 2 * mib;
  return (bytes + unit - 1) / unit * unit;
}

std::pair<MemoryKind, std::uint64_t> Allocator::list_of(const Block& block) {
  return {block.kind, block.kind == MemoryKind::Device ? block.stream_id : 0};
}

void* Allocator::allocate(std::size_t bytes, MemoryKind kind, CUstream stream) {
  if (bytes == 0) return nullptr;
  const ContextScope scope(device_);
  const CaptureTolerance tolerance;
  const std::lock_guard lock(mutex_);
  collect_captures();
  collect_parked(parked_per_call, false);
  if (bytes > SIZE_MAX / 2)
    throw OutOfMemory(fmt::format("cuda:{}", device_), bytes, free_device_bytes());
  Block block{.kind = kind, .stream = stream, .capture = capture_of(stream)};
  block.stream_id = id_of(stream, block.capture != nullptr);
  const std::size_t size = rounded_size(bytes);
  const bool is_counted =
      !take_cached(size, block) || !block.capture;  // a graph's own blocks stay counted while free
  if (!block.data) allocate_fresh(bytes, size, block);
  if (counts(kind) && is_counted) in_use_bytes_ += block.bytes;
  live_.emplace(block.data, block);
  return block.data;
}

// Takes the smallest block that is large enough, unless it is much larger.
bool Allocator::take_cached(std::size_t bytes, Block& block) {
  FreeLists& lists = block.capture ? block.capture->free : free_;
  const auto list = lists.find(list_of(block));
  if (list == lists.end()) return false;
  const auto found = list->second.lower_bound(bytes);
  if (found == list->second.end() || found->first - bytes > bytes / 4) return false;
  block.data = found->second.data;
  block.bytes = found->second.bytes;
  list->second.erase(found);
  return true;
}

void Allocator::allocate_fresh(std::size_t asked, std::size_t bytes, Block& block) {
  CUresult result = allocate_from_driver(bytes, block);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    collect_parked(parked_.size(), true);
    release_cached_locked();
    result = allocate_from_driver(bytes, block);
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY && block.kind == MemoryKind::Pinned)
    throw OutOfMemory("the host (pinned memory)", asked, free_host_bytes());
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    throw OutOfMemory(fmt::format("cuda:{}", device_), asked, free_device_bytes());
  if (result != CUDA_SUCCESS)
    throw_cuda_error(result, fmt::format("an allocation of {} bytes", bytes).c_str());
  if (counts(block.kind)) total_bytes_ += block.bytes;
}

CUresult Allocator::allocate_from_driver(std::size_t bytes, Block& block) {
  CUdeviceptr address = 0;
  CUresult result = CUDA_SUCCESS;
  if (block.kind == MemoryKind::Device) result = driver().cuMemAlloc_v2(&address, bytes);
  if (block.kind == MemoryKind::Pinned) {
    void* data = nullptr;
    result = driver().cuMemHostAlloc(&data, bytes, CU_MEM_HOST_ALLOC_PORTABLE);
    address = address_of(data);
  }
  if (block.kind == MemoryKind::Managed) {
    // The driver would grant more than the device has and then page without end.
    std::size_t free = 0, total = 0;
    driver().cuMemGetInfo_v2(&free, &total);
    result = bytes > total ? CUDA_ERROR_OUT_OF_MEMORY
                           : driver().cuMemAllocManaged(&address, bytes, CU_MEM_ATTACH_GLOBAL);
  }
  if (result != CUDA_SUCCESS) return result;
  block.data = pointer_of(address);
  block.bytes = bytes;
  return CUDA_SUCCESS;
}

void Allocator::return_to_driver(const Block& block) {
  // The driver waits for work that still uses the block. After a fault it refuses; the memory goes
  // with the context.
  if (block.kind == MemoryKind::Pinned) driver().cuMemFreeHost(block.data);
  else driver().cuMemFree_v2(address_of(block.data));
  if (counts(block.kind)) total_bytes_ -= block.bytes;
}

void Allocator::free(void* data, std::span<void* const> other_streams) {
  if (!data || is_driver_shut_down()) return;
  const ContextScope scope(device_);
  const CaptureTolerance tolerance;
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(data);
  TW_CHECK(found != live_.end(), "{} is not memory of cuda:{}'s allocator", data, device_);
  Block block = std::move(found->second);
  live_.erase(found);
  std::vector<CUstream> streams;
  if (block.kind != MemoryKind::Device) streams.push_back(block.stream);
  for (void* other : other_streams)
    if (const auto stream = static_cast<CUstream>(other);
        std::find(streams.begin(), streams.end(), stream) == streams.end())
      if (stream != block.stream) streams.push_back(stream);
  if (block.capture && !block.capture->is_over) {
    Capture& capture = *block.capture;
    const auto list = list_of(block);
    if (streams.empty()) capture.free[list].emplace(block.bytes, std::move(block));
    else capture.held.push_back(std::move(block));
    return;
  }
  const bool was_of_a_graph = block.capture != nullptr;
  block.capture = nullptr;
  if (counts(block.kind)) in_use_bytes_ -= block.bytes;
  if (was_of_a_graph) return_to_driver(block);
  else if (streams.empty()) recycle(std::move(block));
  else park(std::move(block), std::move(streams));
}

void Allocator::recycle(Block block) {
  const auto list = list_of(block);
  free_[list].emplace(block.bytes, std::move(block));
}

// ---- Blocks that other streams used.

void Allocator::park(Block block, std::vector<CUstream> streams) {
  Parked parked{std::move(block), {}, std::move(streams)};
  if (record(parked)) parked_.push_back(std::move(parked));
}

// Records an event on every stream that is not being captured now. False when that is impossible:
// the block is then lost, because nothing tells when it is free.
bool Allocator::record(Parked& parked) {
  std::vector<CUstream> captured;
  for (CUstream stream : parked.unrecorded) {
    if (is_capturing(stream)) {
      captured.push_back(stream);
      continue;
    }
    const CUevent event = take_event();
    const CUresult result =
        event ? driver().cuEventRecord(event, stream) : CUDA_ERROR_NOT_INITIALIZED;
    if (event) (result == CUDA_SUCCESS ? parked.events : spare_events_).push_back(event);
    if (result == CUDA_SUCCESS) continue;
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
      warn_once(
          "memory was freed after a stream that used it was destroyed, and is not reused; keep "
          "wrapped streams "
          "alive as long as the buffers used on them");
    return false;
  }
  parked.unrecorded = std::move(captured);
  return true;
}

bool Allocator::is_done(Parked& parked, bool wait) {
  if (!parked.unrecorded.empty()) return false;
  while (!parked.events.empty()) {
    const CUevent event = parked.events.back();
    if ((wait ? driver().cuEventSynchronize(event) : driver().cuEventQuery(event)) != CUDA_SUCCESS)
      return false;
    spare_events_.push_back(event);
    parked.events.pop_back();
  }
  return true;
}

void Allocator::collect_parked(std::size_t most, bool wait) {
  std::size_t looked_at = 0;
  for (auto parked = parked_.begin(); parked != parked_.end() && looked_at < most; ++looked_at) {
    if (!parked->unrecorded.empty() && !record(*parked)) {
      parked = parked_.erase(parked);
    } else if (is_done(*parked, wait)) {
      recycle(std::move(parked->block));
      parked = parked_.erase(parked);
    } else {
      ++parked;
    }
  }
}

CUevent Allocator::take_event() {
  if (!spare_events_.empty()) {
    const CUevent event = spare_events_.back();
    spare_events_.pop_back();
    return event;
  }
  CUevent event = nullptr;
  return driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS ? event : nullptr;
}

// ---- Graphs.

// The capture that `stream` is part of, null when it is not being captured. The graph gets a user
// object, which the driver destroys when the graph and all that was made from it are gone.
std::shared_ptr<Allocator::Capture> Allocator::capture_of(CUstream stream) {
  if (!is_capturing(stream)) return nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  std::uint64_t id = 0;
  CUgraph graph = nullptr;
  const CUresult result =
      driver().cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, nullptr, nullptr);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return nullptr;
  if (result != CUDA_SUCCESS) throw_cuda_error(result, "cuStreamGetCaptureInfo");
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return nullptr;
  for (const std::shared_ptr<Capture>& known : captures_)
    if (known->id == id) return known;
  auto capture = std::make_shared<Capture>();
  capture->id = id;
  auto* const reference = new std::shared_ptr<Capture>(capture);
  const CUhostFn end = [](void* data) {  // may run on a thread of the driver, which must not call
                                         // CUDA or wait for us
    auto* const held = static_cast<std::shared_ptr<Capture>*>(data);
    (*held)->is_over.store(true);
    delete held;
  };
  CUuserObject object = nullptr;
  TW_CUDA(cuUserObjectCreate(&object, reference, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  TW_CUDA(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  captures_.push_back(capture);
  return capture;
}

void Allocator::collect_captures() {
  std::erase_if(captures_, [this](const std::shared_ptr<Capture>& capture) {
    if (!capture->is_over) return false;
    // To the driver: such blocks know their stream only by its handle, which is not enough to
    // order them with work outside the graph.
    const auto give_back = [this](const Block& block) {
      if (counts(block.kind)) in_use_bytes_ -= block.bytes;
      return_to_driver(block);
    };
    for (auto& [key, list] : capture->free)
      for (const auto& [bytes, block] : list) give_back(block);
    for (const Block& block : capture->held) give_back(block);
    capture->free.clear();
    capture->held.clear();
    return true;
  });
}

// ---- Giving back.

void Allocator::release_cached() {
  const ContextScope scope(device_);
  const CaptureTolerance tolerance;
  const std::lock_guard lock(mutex_);
  collect_captures();
  collect_parked(parked_.size(), false);
  release_cached_locked();
}

void Allocator::release_cached_locked() {
  for (auto& [key, list] : free_)
    for (auto& [bytes, block] : list) return_to_driver(block);
  free_.clear();
}

std::size_t Allocator::in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_bytes_;
}

std::size_t Allocator::cached() const {
  const std::lock_guard lock(mutex_);
  return total_bytes_ - in_use_bytes_;
}

}  // namespace tilewright::cuda
