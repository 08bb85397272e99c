// SPDX-License-Identifier: Apache-2.0
// base/chunks.h — a list whose elements stay where they are while others are added, in pieces of
// memory that hold many: no allocation for each of them.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "base/recycled.h"

namespace tilewright {

template <class T>
class Chunks {
 public:
  // Where it is known how many there will be, they take no more memory than that.
  explicit Chunks(std::size_t in_a_chunk = 0)
      : bytes_(in_a_chunk == 0 ? recycled_block : in_a_chunk * sizeof(T)) {}
  Chunks(Chunks&& other) noexcept
      : chunks_(std::exchange(other.chunks_, {})),
        bytes_(other.bytes_),
        next_(std::exchange(other.next_, nullptr)),
        end_(std::exchange(other.end_, nullptr)) {}
  Chunks& operator=(Chunks&& other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(bytes_, other.bytes_);
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
    return *this;
  }
  ~Chunks() {
    while (!chunks_.empty()) drop_last();
  }

  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (next_ == end_) add_chunk();
    T* const made = new (next_) T(std::forward<Arguments>(arguments)...);
    ++next_;
    return *made;
  }
  // The last one goes.
  void pop_back() {
    if (next_ == chunks_.back()) drop_last();
    (--next_)->~T();
  }
  template <class Visit>
  void for_each(const Visit& visit) {
    for (T* const chunk : chunks_)
      for (T* one = chunk; one != end_of(chunk); ++one) visit(*one);
  }

 private:
  T* end_of(T* chunk) const { return chunk == chunks_.back() ? next_ : chunk + bytes_ / sizeof(T); }
  void add_chunk() {
    chunks_.reserve(chunks_.size() + 1);
    next_ = static_cast<T*>(allocate_recycled(bytes_));
    end_ = next_ + bytes_ / sizeof(T);
    chunks_.push_back(next_);
  }
  void drop_last() {
    T* const chunk = chunks_.back();
    for (T* one = next_; one != chunk;) (--one)->~T();
    free_recycled(chunk, bytes_);
    chunks_.pop_back();
    next_ = end_ = chunks_.empty() ? nullptr : chunks_.back() + bytes_ / sizeof(T);
  }

  std::vector<T*> chunks_;  // full but for the last
  std::size_t bytes_;       // of a chunk
  T* next_ = nullptr;
  T* end_ = nullptr;
};

}  // namespace tilewright
