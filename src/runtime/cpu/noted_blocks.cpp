// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/noted_blocks.cpp — a map behind a flag: who does not ask pays for reading the flag.
#include "runtime/cpu/noted_blocks.h"

#include <atomic>
#include <map>
#include <mutex>

#include "base/check.h"

namespace tilewright {
namespace {

std::atomic<bool> is_noting = false;
std::mutex noted_mutex;
std::map<const void*, std::size_t>& noted_map() {
  static auto* const all = new std::map<const void*, std::size_t>;
  return *all;
}

}  // namespace

NotesBlocks::NotesBlocks() { TW_CHECK(!is_noting.exchange(true), "blocks are noted twice"); }

NotesBlocks::~NotesBlocks() {
  is_noting = false;
  const std::lock_guard lock(noted_mutex);
  noted_map().clear();
}

void note_block(const void* data, std::size_t bytes) {
  if (!notes_blocks() || data == nullptr) return;
  const std::lock_guard lock(noted_mutex);
  noted_map()[data] = bytes;
}

void forget_block(const void* data) noexcept {
  if (!notes_blocks()) return;
  const std::lock_guard lock(noted_mutex);
  noted_map().erase(data);
}

bool notes_blocks() { return is_noting.load(std::memory_order_relaxed); }

std::vector<TwMemory> noted_blocks() {
  const std::lock_guard lock(noted_mutex);
  std::vector<TwMemory> all;
  for (const auto& [data, bytes] : noted_map())
    all.push_back(
        {.name = "a tensor", .address = reinterpret_cast<std::uintptr_t>(data), .bytes = bytes});
  return all;
}

}  // namespace tilewright
