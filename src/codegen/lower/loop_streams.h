// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_streams.h — stores of large results, which go around the caches.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "codegen/lower/loop_elements.h"

namespace tilewright {

class LoopStreams : private LoopElements {
 public:
  using LoopElements::LoopElements;

  StreamedStore& streamed_store(LoweredNest& nest, const ir::Op& store);
  void write_streamed(LoweredNest& nest, const ir::Op& store, ir::Value value);
  void begin_streams(const std::vector<StreamedStore>& streamed, Statements& list);
  void finish_streams(const std::vector<StreamedStore>& streamed, const LoopRange& range,
                      Statements& list);
  void count_streamed(const ir::Op& store);
  // That a program writes by all stores counted.
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
  std::set<const ir::Op*> counted_;
};

}  // namespace tilewright
