// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/map_copies.cpp — poison first, bytes later.
#include "codegen/device_lib/emulate/map_copies.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilewright {
namespace {

constexpr int slot_poison = 0xff;  // not a number in every floating type

}  // namespace

void MapCopies::start(Copy copy, const void* closure, std::size_t closure_bytes) {
  std::memset(copy.to, slot_poison, copy.bytes);
  copy.closure.resize((closure_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(copy.closure.data(), closure, closure_bytes);
  under_way_.push_back(std::move(copy));
}

MapCopies::Copy MapCopies::take(const void* word) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const Copy& copy) { return copy.word == word; });
  if (found == under_way_.end()) return {};
  Copy copy = std::move(*found);
  under_way_.erase(found);
  return copy;
}

}  // namespace tilewright
