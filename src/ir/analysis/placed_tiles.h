// SPDX-License-Identifier: Apache-2.0
// ir/analysis/placed_tiles.h — which tiles of a Laid kernel live in buffers, and which of them an
// op reads: through views, and through sweeps whose tiles are computed where they are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

class PlacedTiles {
 public:
  // The kernel must outlive this and stay as it is.
  explicit PlacedTiles(const Kernel& kernel);

  // The number of the buffer with that name; -1: there is none.
  int buffer_named(std::string_view name) const;
  // The number of the buffer that a value lives in, slots too; -1: none.
  int buffer_of(Value value) const { return buffers_[value.id]; }
  // Whether all that a sweep yields is computed by the op that reads it.
  bool is_on_demand(const Op& sweep) const;

  // Each once.
  std::vector<Value> reads_of(std::span<const Value> values);
  std::vector<Value> reads_of_sweep(const Op& sweep);

 private:
  void note_places(const Op& op);
  void read(Value value, std::vector<Value>& out);
  void read_inside(const Op& sweep, std::vector<Value>& out);

  const Kernel& kernel_;
  std::unordered_map<std::string_view, int> numbers_;
  std::vector<int> buffers_;         // by value
  std::vector<std::uint32_t> seen_;  // by value: the last reader that asked for it
  std::uint32_t reader_ = 0;
};

}  // namespace tilewright::ir
