// SPDX-License-Identifier: Apache-2.0
// base/small_vector.h — a list that needs no allocation for a few elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace tilewright {

// Up to `few` elements lie in the list itself.
template <class T, std::size_t few>
class SmallVector {
 public:
  void assign(std::size_t size, const T& value) {
    size_ = size;
    if (size > few) many_.assign(size, value);
    else std::fill_n(few_.begin(), size, value);
  }

  std::size_t size() const { return size_; }
  T* begin() { return size_ > few ? many_.data() : few_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return size_ > few ? many_.data() : few_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  const T& front() const { return *begin(); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::size_t size_ = 0;
  std::array<T, few> few_{};
  std::vector<T> many_;
};

}  // namespace tilewright
