// SPDX-License-Identifier: Apache-2.0
// runtime/cache_flush.h — fills a device's last cache with other data, so that the next kernel reads
// from memory.
#pragma once

#include "tilewright/buffer.h"
#include "tilewright/stream.h"

namespace tilewright {

class CacheFlush {
 public:
  // Takes memory of twice the cache's size for the life of the value.
  explicit CacheFlush(const Stream& stream);
  void run();  // queues the writes; the host does not wait
  std::size_t bytes() const { return memory_.size(); }

 private:
  Stream stream_;
  Buffer memory_;
};

}  // namespace tilewright
