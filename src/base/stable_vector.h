// SPDX-License-Identifier: Apache-2.0
// base/stable_vector.h — a list that is read by number and whose elements stay where they are while
// others are added: many in one piece of memory.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tilewright {

template <class T>
class StableVector {
 public:
  StableVector() = default;
  StableVector(StableVector&& other) noexcept
      : pieces_(std::exchange(other.pieces_, {})), size_(std::exchange(other.size_, 0)) {}
  StableVector& operator=(StableVector&& other) noexcept {
    pieces_ = std::exchange(other.pieces_, {});
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // A new one at the end.
  T& add() {
    if (size_ % in_a_piece == 0) pieces_.push_back(std::make_unique<T[]>(in_a_piece));
    ++size_;
    return (*this)[size_ - 1];
  }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return pieces_[i / in_a_piece][i % in_a_piece]; }
  const T& operator[](std::size_t i) const { return pieces_[i / in_a_piece][i % in_a_piece]; }

 private:
  static constexpr std::size_t in_a_piece = 32;
  std::vector<std::unique_ptr<T[]>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace tilewright
