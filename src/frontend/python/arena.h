// SPDX-License-Identifier: Apache-2.0
// frontend/python/arena.h — memory for the nodes of one tree: handed out in order, freed all at
// once, no destructors.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilewright::python {

class Arena {
 public:
  template <class T>
  T* make() {
    static_assert(std::is_trivially_destructible_v<T>, "an arena never runs destructors");
    return new (allocate(sizeof(T), alignof(T))) T{};
  }

  template <class T>
  std::span<const T> copy(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>, "an arena copies bytes");
    if (values.empty()) return {};
    auto* place = static_cast<T*>(allocate(values.size() * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(place), values.data(), values.size() * sizeof(T));
    return {place, values.size()};
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    auto* place = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(place, text.data(), text.size());
    return {place, text.size()};
  }

 private:
  void* allocate(std::size_t size, std::size_t alignment) {
    std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || begin + size > capacity_) {
      capacity_ = size > block_size ? size : block_size;
      blocks_.push_back(std::make_unique<std::byte[]>(capacity_));
      begin = 0;
    }
    used_ = begin + size;
    return blocks_.back().get() + begin;
  }

  static constexpr std::size_t block_size = std::size_t{1} << 15;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace tilewright::python
