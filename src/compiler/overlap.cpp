// SPDX-License-Identifier: Apache-2.0
// compiler/overlap.cpp — pairs of pointers: few are given to a kernel, so all pairs are looked at.
#include "compiler/overlap.h"

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {

Overlaps::Extent Overlaps::extent_of(const Argument& value) {
  if (value.kind != Argument::Kind::Memory || value.buffer == nullptr)
    return {value.bits, value.bits + 1};
  const auto begin = reinterpret_cast<std::uintptr_t>(value.buffer->data());
  return {begin, begin + value.buffer->size()};
}

Overlaps::Overlaps(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) add(argument);
}

void Overlaps::add_pointer(const Argument& value) {
  if (count_ == most)
    throw ArgumentError(fmt::format("a launch has more than {} pointers; pass fewer", most));
  const std::size_t i = count_++;
  pointers_[i] = {.argument = &value, .memory = -1, .address = -1};
  extents_[i] = extent_of(value);
  for (std::size_t j = 0; j < i; ++j) {
    if (!extents_[i].meets(extents_[j])) [[likely]]
      continue;
    join(i, j);
    // As that pointer, which has met all others, unless it reaches less far.
    if (pointers_[i].address >= 0 && extents_[i] == extents_[j]) return;
  }
}

// Each group has the number of one of its pointers.
void Overlaps::join(std::size_t i, std::size_t j) {
  is_any_ = true;
  PointerMemory& a = pointers_[i];
  PointerMemory& b = pointers_[j];
  const int joined = b.memory >= 0 ? b.memory : static_cast<int>(j);
  const int left = a.memory;
  a.memory = b.memory = joined;
  for (std::size_t k = 0; left >= 0 && k < count_; ++k)
    if (pointers_[k].memory == left) pointers_[k].memory = joined;
  if (a.argument->bits != b.argument->bits || a.argument->dtype != b.argument->dtype) return;
  if (b.address < 0) b.address = static_cast<int>(j);
  a.address = b.address;
}

std::uint64_t Overlaps::word() const {
  if (!is_any_) return 0;
  std::uint64_t word = 1;
  for (const PointerMemory& pointer : pointers()) {
    const auto pair = static_cast<std::uint64_t>(pointer.memory + 1) << 16 |
                      static_cast<std::uint64_t>(pointer.address + 1);
    word = (word ^ pair) * 0x9e3779b97f4a7c15u;
    word ^= word >> 29;
  }
  return word | 1;
}

}  // namespace tilewright
