// SPDX-License-Identifier: Apache-2.0
// compiler/overlap.cpp — pairs of pointers: few are given to a kernel, so all pairs are looked at.
#include "compiler/overlap.h"

#include <algorithm>

#include "base/hash.h"
#include "compiler/launch_key.h"
#include "compiler/specialize.h"

namespace tilewright {
namespace {

struct Extent {
  std::uint64_t begin, end;

  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
};

bool has_memory(const TritonArgument& argument) {
  return argument.kind == TritonArgument::Kind::Value && argument.value.bits != 0 &&
         (argument.value.kind == Argument::Kind::Memory ||
          argument.value.kind == Argument::Kind::Pointer);
}

Extent extent_of(const Argument& value) {
  if (value.kind != Argument::Kind::Memory || value.buffer == nullptr)
    return {value.bits, value.bits + 1};
  const auto begin = reinterpret_cast<std::uintptr_t>(value.buffer->data());
  return {begin, begin + value.buffer->size()};
}

template <class Visit>
void for_each_pointer(std::span<const TritonArgument* const> slots, const Visit& visit) {
  for (const TritonArgument* slot : slots) {
    if (slot == nullptr) continue;
    if (has_memory(*slot)) visit(slot->value);
    for (const TritonArgument& item : items_of(*slot))
      if (has_memory(item)) visit(item.value);
  }
}

}  // namespace

std::uint64_t overlap_word(std::span<const TritonArgument* const> slots) {
  constexpr std::size_t most = 64;  // more pointers than that are compared on the heap
  Extent few[most];
  std::size_t count = 0;
  bool has_overlap = false;
  for_each_pointer(slots, [&](const Argument& value) {
    if (has_overlap || count == most) {
      has_overlap = true;
      return;
    }
    const Extent extent = extent_of(value);
    for (std::size_t i = 0; i < count; ++i) has_overlap |= extent.meets(few[i]);
    few[count++] = extent;
  });
  if (!has_overlap) return 0;
  Hasher hasher;
  bool is_any = false;
  for (const PointerMemory& pointer : find_overlaps(slots)) {
    hasher.add(std::int64_t{pointer.memory});
    hasher.add(std::int64_t{pointer.address});
    is_any |= pointer.memory >= 0;
  }
  return is_any ? hasher.finish().low | 1 : 0;
}

std::vector<PointerMemory> find_overlaps(std::span<const TritonArgument* const> slots) {
  std::vector<PointerMemory> out;
  std::vector<Extent> extents;
  for_each_pointer(slots, [&](const Argument& value) {
    out.push_back({.argument = &value});
    extents.push_back(extent_of(value));
  });
  // Each group has the number of its first pointer.
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!extents[i].meets(extents[j])) continue;
      const int joined = out[j].memory >= 0 ? out[j].memory : static_cast<int>(j);
      const int left = out[i].memory;
      out[i].memory = out[j].memory = joined;
      for (PointerMemory& other : out)
        if (left >= 0 && other.memory == left) other.memory = joined;
      const Argument& a = *out[i].argument;
      const Argument& b = *out[j].argument;
      if (a.bits != b.bits || a.dtype != b.dtype) continue;
      if (out[j].address < 0) out[j].address = static_cast<int>(j);
      out[i].address = out[j].address;
    }
  return out;
}

}  // namespace tilewright
