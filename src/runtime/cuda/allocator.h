// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/allocator.h — a caching allocator in stream order, one per device.
//
// A freed block of device memory is reused at once by the stream it was allocated for, since that
// stream runs its work in order. A block that other streams used is parked, with an event recorded
// on each of them, until all events have passed; so are pinned and managed blocks always, because
// the host does not wait for streams. Freeing never waits.
//
// Memory allocated for a stream that is being captured belongs to the graph: every replay will use
// it again. It is reused inside that capture only, and comes back when the driver says that the
// graph and what was made from it are gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/cuda/driver_api.h"
#include "tilewright/buffer.h"

namespace tilewright::cuda {

class Allocator {
 public:
  explicit Allocator(int device) : device_(device) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Throws OutOfMemory, after all that is cached was given back and tried again.
  void* allocate(std::size_t bytes, MemoryKind kind, CUstream stream);
  // Does not throw for what a fault or a dead stream makes impossible: such a block is never
  // reused.
  void free(void* data, std::span<void* const> other_streams);
  // Gives to the driver all that is cached and whose work is done.
  void release_cached();

  // Bytes of device and managed memory.
  std::size_t in_use() const;
  std::size_t cached() const;

  // What is really allocated for `bytes`: at most a quarter more, beyond the smallest.
  static std::size_t rounded_size(std::size_t bytes);

 private:
  struct Capture;

  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::Device;
    CUstream stream = nullptr;
    std::uint64_t stream_id = 0;       // unlike the handle, never given to a second stream
    std::shared_ptr<Capture> capture;  // set while the block belongs to a graph
  };

  // Free blocks by size. Device memory is free for one stream, the other kinds for all (id 0).
  using FreeList = std::multimap<std::size_t, Block>;
  using FreeLists = std::map<std::pair<MemoryKind, std::uint64_t>, FreeList>;

  // A graph capture during which memory was allocated.
  struct Capture {
    std::uint64_t id = 0;
    std::atomic<bool> is_over{
        false};  // set by the driver's callback: graph and executables are gone
    FreeLists free;
    std::vector<Block> held;  // free, but not ordered with the rest of the graph
  };

  struct Parked {
    Block block;
    std::vector<CUevent> events;
    std::vector<CUstream> unrecorded;  // were being captured when the block was freed
  };

  static std::pair<MemoryKind, std::uint64_t> list_of(const Block& block);
  std::shared_ptr<Capture> capture_of(CUstream stream);
  bool take_cached(std::size_t bytes, Block& block);
  void allocate_fresh(std::size_t asked, std::size_t bytes, Block& block);
  CUresult allocate_from_driver(std::size_t bytes, Block& block);
  void return_to_driver(const Block& block);
  void park(Block block, std::vector<CUstream> streams);
  bool record(Parked& parked);
  bool is_done(Parked& parked, bool wait);
  void collect_parked(std::size_t most, bool wait);
  void collect_captures();
  void release_cached_locked();
  void recycle(Block block);
  CUevent take_event();

  const int device_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Block> live_;
  FreeLists free_;
  std::deque<Parked> parked_;
  std::vector<std::shared_ptr<Capture>> captures_;
  std::vector<CUevent> spare_events_;
  std::size_t total_bytes_ = 0;   // device and managed memory that we hold
  std::size_t in_use_bytes_ = 0;  // of these, handed out or belonging to a graph
};

}  // namespace tilewright::cuda
