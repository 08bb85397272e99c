// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/copies.cpp — when the bytes of an asynchronous copy move.
#include "codegen/device_lib/emulate/copies.h"

#include <cstring>
#include <utility>

namespace tilewright {
namespace {

// Not a number in every floating type, and no likely index.
constexpr int poison = 0xff;

}  // namespace

void CopyQueue::clear() {
  open_.clear();
  groups_.clear();
}

void CopyQueue::start(const Copy& copy, bool is_early) {
  std::memset(copy.to, poison, copy.bytes);
  open_.push_back(copy);
  Copy& added = open_.back();
  added.is_early = is_early;
  if (is_early && added.from) std::memcpy(added.arriving.data(), added.from, added.bytes);
}

void CopyQueue::commit() { groups_.push_back(std::exchange(open_, {})); }

void CopyQueue::arrive(const Copy& copy) {
  if (!copy.from) std::memset(copy.to, 0, copy.bytes);
  else std::memcpy(copy.to, copy.is_early ? copy.arriving.data() : copy.from, copy.bytes);
}

}  // namespace tilewright
