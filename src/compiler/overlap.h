// SPDX-License-Identifier: Apache-2.0
// compiler/overlap.h — which arguments of a launch lie in the same memory: part of what code is
// compiled for, since accesses through pointers that may meet keep their order.
//
// Tensors overlap when their buffers do. Of a bare pointer only the address is known, so two of
// them are told apart unless they are equal.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tilewright/module.h"

namespace tilewright {

// What is known of a pointer's memory. Without initial values: a launch has room for many.
struct PointerMemory {
  const Argument* argument;
  int memory;   // those with the same number may overlap; -1: with no other
  int address;  // those with the same number have the same address and type
};

// Of all pointers of a launch, in the order in which they are added. Part of every launch:
// allocates nothing.
class Overlaps {
 public:
  Overlaps() {}  // not defaulted: that would let the arrays be cleared
  explicit Overlaps(std::span<const Argument> arguments);

  // Takes what points to memory and passes over all else. The argument lives as long as this.
  void add(const Argument& value) {
    const bool points =
        value.kind == Argument::Kind::Memory || value.kind == Argument::Kind::Pointer;
    if (points && value.bits != 0) add_pointer(value);
  }

  std::span<const PointerMemory> pointers() const { return {pointers_.data(), count_}; }
  // 0 when no two pointers overlap, else a number that tells which do and how.
  std::uint64_t word() const;

 private:
  struct Extent {
    std::uint64_t begin, end;
    bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
    bool operator==(const Extent&) const = default;
  };
  static Extent extent_of(const Argument& value);
  void add_pointer(const Argument& value);
  void join(std::size_t i, std::size_t j);

  static constexpr std::size_t most = 512;  // pointers; launches with more are refused
  std::size_t count_ = 0;
  bool is_any_ = false;
  std::array<PointerMemory, most> pointers_;  // not initialised: most launches use a few
  std::array<Extent, most> extents_;
};

}  // namespace tilewright
