// SPDX-License-Identifier: Apache-2.0
// base/recycled.h — memory for what is made and dropped in great numbers by one thread, such as the
// nodes of a trace: freed pieces wait in lists of the thread for the next one of their size.
//
// The heap takes a hundred instructions for a piece once a few of its size were freed together, and
// gives the pages of many back to the system, to fault them in again at the next trace.
#pragma once

#include <cstddef>

namespace tilewright {

// Pieces of up to 512 bytes and blocks of this size are recycled, others are the heap's.
inline constexpr std::size_t recycled_block = 16384;
void* allocate_recycled(std::size_t bytes);
void free_recycled(void* memory, std::size_t bytes) noexcept;

// Of containers with few elements.
template <class T>
struct Recycled {
  using value_type = T;
  Recycled() = default;
  template <class U>
  Recycled(const Recycled<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_recycled(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept {
    free_recycled(memory, count * sizeof(T));
  }
  friend bool operator==(const Recycled&, const Recycled&) { return true; }
};

}  // namespace tilewright
