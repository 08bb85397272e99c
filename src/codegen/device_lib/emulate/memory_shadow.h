// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/memory_shadow.h — a shadow of the global memory that an emulated block
// touches: who touched which bytes last, and what ordered it.
//
// Two threads of a block that touch the same byte, one of them writing, must be in an order
// (block_order.h); what other blocks do is not looked at. Atomic and volatile accesses do not race
// with each other. Threads may write the same value to one place, as replicas of an element do: a
// write over another thread's is a race when it changes something. An asynchronous copy or store
// touches memory at any time until it has been waited for, for its own thread too. What a thread
// stored no copy of a tensor map sees without a proxy fence, and nobody has one for memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/cpu_entry.h"
#include "codegen/device_lib/emulate/block_order.h"
#include "codegen/device_lib/emulate/shadow.h"
#include "codegen/device_lib/emulate/source_map.h"

namespace tilewright {

class MemoryShadow {
 public:
  using Access = Shadow::Access;
  using Finding = Shadow::Finding;
  // When an access takes place. device_lib/emulate/cuda/core.cuh has the same numbers.
  enum class When : std::uint32_t {
    Now,
    Copy,      // until the thread has waited for its group of copies
    MapCopy,   // until somebody has waited for its word
    MapStore,  // until the thread has waited for its stores
    MapAdd,
  };

  explicit MemoryShadow(const BlockOrder& order) : order_(order) {}

  // Nothing was touched. The launch's memory has names; where the lines come from may be null.
  void start_block(std::uint32_t threads, const TwCpuLaunch* launch, const TwSourceMap* source);

  Finding touch(const Access& access) {
    return touch(access, When::Now, order_.now(access.thread));
  }
  Finding touch(const Access& access, When when, const BlockOrder::Moment& moment);
  // The last write has been done by now: whether it changed what another thread had written.
  Finding settle() { return changes_.empty() ? Finding{} : find_change(); }

  void commit_copies(std::uint32_t thread) { ++copies_[thread].started; }
  void wait_copies(std::uint32_t thread, std::uint32_t pending);
  void wait_map_stores(std::uint32_t thread);

 private:
  struct Mark {
    BlockOrder::Moment at;
    std::uint32_t line = 0;
    std::uint32_t number = 0;  // of the thread's group
    std::uint16_t thread = 0;
    When when = When::Now;
    bool is_atomic = false;
  };
  // Of as many bytes as the accesses to its page leave together.
  struct Cell {
    bool is_written = false;
    bool is_copied = false;
    std::uint8_t reads = 0;
    Mark write;
    Mark readers[2];  // since that write, of two warps where there were two
    Mark copy;        // since that write, the last asynchronous one
  };
  struct Page {
    std::uint32_t granule = 0;
    std::vector<Cell> cells;
  };
  // Groups of a thread's asynchronous work, and when it had waited for each.
  struct Groups {
    std::uint32_t started = 0;
    std::vector<BlockOrder::Moment> waited;
  };
  // A write over what another thread wrote, whose bytes are still to come.
  struct Change {
    std::uintptr_t address = 0;
    std::uint32_t bytes = 0;
    std::array<std::byte, 16> before{};
    Mark first;
    Mark second;
  };

  static constexpr std::uintptr_t page_bytes = 256;

  Page& page_at(std::uintptr_t address, std::uint32_t granule);
  void forget();
  void refine(Page& page, std::uint32_t granule);
  Finding check(const Cell& cell, const Mark& mark, bool is_write, std::uintptr_t address,
                std::uint32_t bytes);
  void note(Cell& cell, const Mark& mark, bool is_write) const;
  bool is_ordered(const Mark& before, const Mark& after) const;
  bool is_under_way(const Mark& mark) const;  // nobody is known to have waited for it
  bool is_race(const Mark& before, const Mark& after) const {
    return !(before.is_atomic && after.is_atomic) && !is_ordered(before, after);
  }
  Finding find_change();
  Finding race(const Mark& before, const char* did, const Mark& after, const char* does,
               std::uintptr_t address) const;
  Finding written_twice(const Change& change) const;
  std::string place_name(std::uintptr_t address) const;

  const BlockOrder& order_;
  const TwCpuLaunch* launch_ = nullptr;
  const TwSourceMap* source_ = nullptr;
  std::unordered_map<std::uintptr_t, Page*> pages_;  // of this block
  std::deque<Page> all_pages_;                       // the first `used_` are in use
  std::size_t used_ = 0;
  std::size_t cells_ = 0;  // of those pages
  struct Recent {
    std::uintptr_t number = 0;
    Page* page = nullptr;
  };
  std::array<Recent, 64> recent_{};
  std::vector<Groups> copies_;  // by thread
  std::vector<Groups> stores_;
  std::vector<Change> changes_;
};

}  // namespace tilewright
