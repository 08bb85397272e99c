// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/cpu_memory.cpp — size classes, free lists, mapping and poisoning.
#include "runtime/cpu/cpu_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "base/check.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/noted_blocks.h"
#include "runtime/cpu/thread_pool.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace tilewright {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = 2 << 20;
constexpr std::size_t largest_block = std::size_t{1} << 46;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t red_zone = 64;
#else
constexpr std::size_t red_zone = 0;
#endif

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// The block that `bytes` are served from, and the number of its free list.
struct SizeClass {
  std::size_t bytes;
  std::size_t index;
};

SizeClass size_class_of(std::size_t asked) {
  std::size_t bytes = round_up(asked + red_zone, alignment);
  if (bytes >= huge_page) bytes = round_up(bytes, huge_page);
  if (bytes <= 1024) return {bytes, bytes / alignment - 1};
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) -
                      1;  // 2^octave < bytes <= 2^(octave + 1)
  const std::size_t step = std::size_t{1} << (octave - 3);
  const std::size_t steps = (bytes - (std::size_t{1} << octave) + step - 1) / step;  // 1 to 8
  return {(std::size_t{1} << octave) + steps * step, 16 + (octave - 10) * 8 + steps - 1};
}

// The inverse, for giving cached blocks back.
std::size_t bytes_of_class(std::size_t index) {
  if (index < 16) return (index + 1) * alignment;
  const std::size_t octave = 10 + (index - 16) / 8;
  return (std::size_t{1} << octave) + ((index - 16) % 8 + 1) * (std::size_t{1} << (octave - 3));
}

bool is_mapped(std::size_t block_bytes) { return block_bytes >= huge_page; }

void* map_huge(std::size_t bytes) {
  const std::size_t room = bytes + huge_page;
  void* const base =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(base);
  const std::uintptr_t aligned = round_up(start, huge_page);
  if (aligned > start) munmap(base, aligned - start);
  if (aligned + bytes < start + room)
    munmap(reinterpret_cast<void*>(aligned + bytes), start + room - aligned - bytes);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

// Kernels before 5.14 do not know it; there one byte of each small page is written.
constexpr int populate_write = 23;

bool populate(char* data, std::size_t bytes) {
  if (madvise(data, bytes, populate_write) == 0) return true;
  if (errno == ENOMEM) return false;
  for (std::size_t at = 0; at < bytes; at += 4096) *static_cast<volatile char*>(data + at) = 0;
  return true;
}

// Makes the pages of a fresh mapping on all cores; false when the machine has no more.
bool make_pages(void* data, std::size_t bytes) {
  std::atomic<bool> is_done = true;
  const auto make = [&](std::uint64_t first, std::uint64_t last) {
    const bool has_pages =
        populate(static_cast<char*>(data) + first * huge_page, (last - first) * huge_page);
    if (!has_pages) is_done = false;
  };
  parallel_ranges(round_up(bytes, huge_page) / huge_page, 1, make);
  return is_done;
}

// Where a cached block keeps the next one's address. Under the sanitizer that is the end of the red
// zone, which is left unpoisoned: the leak checker must see it, and the user's bytes must not be
// readable.
void*& link_of(void* block, std::size_t block_bytes) {
  const std::size_t at = red_zone > 0 ? block_bytes - sizeof(void*) : 0;
  return *reinterpret_cast<void**>(static_cast<char*>(block) + at);
}

void give_back(void* block, std::size_t block_bytes) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(block, block_bytes);
  if (is_mapped(block_bytes)) munmap(block, block_bytes);
  else std::free(block);
}

}  // namespace

CpuMemory& CpuMemory::shared() {
  static auto* const memory = new CpuMemory;
  return *memory;
}

CpuMemory::CpuMemory() : max_cached_(total_host_memory() / 4) {}

void* CpuMemory::pop(std::size_t index) {
  void* const block = free_[index];
  if (!block) return nullptr;
  free_[index] = link_of(block, bytes_of_class(index));
  cached_ -= bytes_of_class(index);
  return block;
}

void* CpuMemory::make(std::size_t asked, std::size_t block_bytes) {
  if (!is_mapped(block_bytes)) {
    void* const block = std::aligned_alloc(alignment, block_bytes);
    if (!block) throw OutOfMemory("cpu", asked, available_host_memory());
    return block;
  }
  // The system would promise more than it has and end the process later.
  if (asked > available_host_memory()) {
    release_cached();
    if (const std::size_t now = available_host_memory(); asked > now)
      throw OutOfMemory("cpu", asked, now);
  }
  void* const block = map_huge(block_bytes);
  if (block && make_pages(block, asked)) return block;
  if (block) munmap(block, block_bytes);
  throw OutOfMemory("cpu", asked, available_host_memory());
}

void* CpuMemory::allocate(std::size_t bytes) {
  if (bytes > largest_block) throw OutOfMemory("cpu", bytes, available_host_memory());
  const SizeClass size = size_class_of(bytes);
  void* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    block = pop(size.index);
    if (block) in_use_ += size.bytes;
  }
  if (!block) {
    block = make(bytes, size.bytes);
    const std::lock_guard lock(mutex_);
    in_use_ += size.bytes;
  }
  ASAN_POISON_MEMORY_REGION(block, size.bytes);
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  note_block(block, bytes);
  return block;
}

void CpuMemory::free(void* data, std::size_t bytes) noexcept {
  forget_block(data);
  const SizeClass size = size_class_of(bytes);
  const std::lock_guard lock(mutex_);
  in_use_ -= size.bytes;
  if (size.bytes > max_cached_) {
    give_back(data, size.bytes);
    return;
  }
  make_room(size.bytes);
  ASAN_POISON_MEMORY_REGION(data, size.bytes);
  void*& link = link_of(data, size.bytes);
  ASAN_UNPOISON_MEMORY_REGION(&link, sizeof link);
  link = free_[size.index];
  free_[size.index] = data;
  cached_ += size.bytes;
}

// The largest blocks go first: they hold most and are the cheapest per byte to make again.
void CpuMemory::make_room(std::size_t bytes) noexcept {
  for (std::size_t index = class_count; index-- > 0 && cached_ + bytes > max_cached_;)
    while (cached_ + bytes > max_cached_ && free_[index])
      give_back(pop(index), bytes_of_class(index));
}

void CpuMemory::release_cached() noexcept {
  const std::lock_guard lock(mutex_);
  for (std::size_t index = 0; index < class_count; ++index)
    while (void* const block = pop(index)) give_back(block, bytes_of_class(index));
}

MemoryState CpuMemory::state() const {
  const std::lock_guard lock(mutex_);
  return {.free = available_host_memory(),
          .total = total_host_memory(),
          .cached = cached_,
          .in_use = in_use_};
}

}  // namespace tilewright
