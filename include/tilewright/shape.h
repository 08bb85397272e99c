// SPDX-License-Identifier: Apache-2.0
// tilewright/shape.h — sizes or strides of a tensor: a vector of integers that allocates nothing up
// to four dimensions.
//
// Every operation makes several of these, and a traced one a dozen: as std::vector their
// allocations were a quarter of what tracing cost. It has std::vector's interface and converts from
// and to it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright {

class Shape {
 public:
  using value_type = std::int64_t;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = value_type&;
  using const_reference = const value_type&;
  using pointer = value_type*;
  using const_pointer = const value_type*;
  using iterator = value_type*;
  using const_iterator = const value_type*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  Shape() = default;
  explicit Shape(size_type count, value_type value = 0) { assign(count, value); }
  Shape(std::initializer_list<value_type> values) { append(values.begin(), values.end()); }
  Shape(const std::vector<value_type>& values) { append(values.begin(), values.end()); }
  template <std::forward_iterator Iterator>
  Shape(Iterator first, Iterator last) {
    append(first, last);
  }
  Shape(const Shape& other) { copy(other); }
  Shape(Shape&& other) noexcept { take(other); }
  Shape& operator=(const Shape& other) {
    if (this != &other) {
      release();
      copy(other);
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~Shape() { release(); }

  operator std::vector<value_type>() const { return {begin(), end()}; }

  size_type size() const { return size_; }
  size_type capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  value_type* data() { return is_inline() ? inline_ : heap_; }
  const value_type* data() const { return is_inline() ? inline_ : heap_; }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  reference operator[](size_type i) { return data()[i]; }
  const_reference operator[](size_type i) const { return data()[i]; }
  reference front() { return *begin(); }
  const_reference front() const { return *begin(); }
  reference back() { return end()[-1]; }
  const_reference back() const { return end()[-1]; }

  void reserve(size_type count) {
    if (count > capacity_) grow(count);
  }
  void clear() { size_ = 0; }
  void resize(size_type count, value_type value = 0) {
    reserve(count);
    if (count > size_) std::fill(end(), data() + count, value);
    size_ = static_cast<std::uint32_t>(count);
  }
  void assign(size_type count, value_type value) {
    clear();
    resize(count, value);
  }
  template <std::forward_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    *this = Shape(first, last);  // they may be its own
  }
  void push_back(value_type value) {
    if (size_ == capacity_) grow(2 * size_type{capacity_});
    data()[size_++] = value;
  }
  value_type& emplace_back(value_type value) {
    push_back(value);
    return back();
  }
  void pop_back() { --size_; }
  iterator insert(const_iterator place, value_type value) {
    const auto at = place - begin();
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
    return begin() + at;
  }
  iterator insert(const_iterator place, size_type count, value_type value) {
    const auto at = place - begin();
    resize(size_ + count, value);
    std::rotate(begin() + at, end() - static_cast<difference_type>(count), end());
    return begin() + at;
  }
  // Of other memory than its own.
  template <std::forward_iterator Iterator>
  iterator insert(const_iterator place, Iterator first, Iterator last) {
    const auto at = place - begin(), before = static_cast<difference_type>(size_);
    append(first, last);
    std::rotate(begin() + at, begin() + before, end());
    return begin() + at;
  }
  iterator insert(const_iterator place, std::initializer_list<value_type> values) {
    return insert(place, values.begin(), values.end());
  }
  iterator erase(const_iterator place) { return erase(place, place + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const auto at = first - begin();
    std::copy(last, cend(), begin() + at);
    size_ -= static_cast<std::uint32_t>(last - first);
    return begin() + at;
  }
  void swap(Shape& other) noexcept { std::swap(*this, other); }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.size_ != b.size_) return false;
    const value_type *x = a.data(), *y = b.data();
    for (size_type i = 0; i < a.size_; ++i)
      if (x[i] != y[i]) return false;
    return true;
  }
  friend std::strong_ordering operator<=>(const Shape& a, const Shape& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr std::uint32_t inline_size = 4;
  bool is_inline() const { return capacity_ == inline_size; }

  void copy(const Shape& other) {
    size_ = other.size_;
    if (other.is_inline()) {  // all of it: a length that is known is a few moves
      capacity_ = inline_size;
      std::memcpy(inline_, other.inline_, sizeof(inline_));
    } else if (size_ <= inline_size) {
      capacity_ = inline_size;
      std::memcpy(inline_, other.heap_, size_ * sizeof(value_type));
    } else {
      capacity_ = size_;
      heap_ = std::allocator<value_type>().allocate(capacity_);
      std::memcpy(heap_, other.heap_, size_ * sizeof(value_type));
    }
  }
  // Leaves the other one empty.
  void take(Shape& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, inline_size);
    if (is_inline()) std::memcpy(inline_, other.inline_, sizeof(inline_));
    else heap_ = other.heap_;
  }
  void release() {
    if (!is_inline()) std::allocator<value_type>().deallocate(heap_, capacity_);
    capacity_ = inline_size;
  }
  void grow(size_type count) {
    value_type* const made = std::allocator<value_type>().allocate(count);
    std::memcpy(made, data(), size_ * sizeof(value_type));
    release();
    heap_ = made;
    capacity_ = static_cast<std::uint32_t>(count);
  }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    reserve(size_ + static_cast<size_type>(std::distance(first, last)));
    value_type* to = end();
    for (; first != last; ++first, ++size_) *to++ = static_cast<value_type>(*first);
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = inline_size;  // always more than inline_size where memory is its own
  union {
    value_type inline_[inline_size];
    value_type* heap_;
  };
};

}  // namespace tilewright
