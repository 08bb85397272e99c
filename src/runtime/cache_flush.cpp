// SPDX-License-Identifier: Apache-2.0
// runtime/cache_flush.cpp — writes more bytes than the cache holds.
#include "runtime/cache_flush.h"

#include <algorithm>
#include <array>

namespace tilewright {
namespace {

std::size_t flush_bytes(const Target& target) {
  constexpr std::int64_t smallest = std::int64_t{8} << 20;  // where the size is not known
  return static_cast<std::size_t>(2 * std::max({target.l2_bytes, target.l3_bytes, smallest}));
}

}  // namespace

CacheFlush::CacheFlush(const Stream& stream)
    : stream_(stream),
      memory_(Buffer::allocate(flush_bytes(stream.device().target()), stream.device(),
                               MemoryKind::Device, stream)) {}

void CacheFlush::run() {
  constexpr std::array<std::byte, 4> zeros{};
  fill_async({memory_}, memory_.size(), zeros, stream_);
}

}  // namespace tilewright
