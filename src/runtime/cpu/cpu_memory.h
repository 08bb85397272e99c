// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/cpu_memory.h — the caching allocator of host memory.
//
// Blocks are 64-byte aligned. From 2 MiB up they are mapped on huge pages and their pages are made
// at once, on all cores, since a fresh 4 KiB page costs more than most kernels do with it. Freed
// blocks are kept by size and handed out again with their pages, up to a quarter of the machine's
// memory. Under the address sanitizer freed blocks and unused tails are poisoned.
#pragma once

#include <cstddef>
#include <mutex>

#include "tilewright/device.h"

namespace tilewright {

class CpuMemory {
 public:
  // Never destroyed, since buffers may outlive every static.
  static CpuMemory& shared();

  // Throws OutOfMemory, at once for sizes that the machine cannot give.
  void* allocate(std::size_t bytes);
  void free(void* data, std::size_t bytes) noexcept;  // `bytes` as they were asked for
  void release_cached() noexcept;
  MemoryState state() const;

 private:
  // Blocks come in sizes: multiples of 64 bytes up to 1 KiB, then eight sizes per power of two.
  static constexpr std::size_t class_count = 16 + 8 * 38;

  CpuMemory();
  void* make(std::size_t asked, std::size_t block_bytes);
  void make_room(std::size_t bytes) noexcept;
  void* pop(std::size_t size_class);

  mutable std::mutex mutex_;
  // Lists through the freed memory itself, so that freeing needs no memory.
  void* free_[class_count] = {};
  std::size_t cached_ = 0;
  std::size_t in_use_ = 0;
  std::size_t max_cached_;
};

}  // namespace tilewright
