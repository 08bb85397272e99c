// SPDX-License-Identifier: Apache-2.0
// ir/interpret/jitter.h — ops that round, rounded as some device might: by chance up or down.
//
// Runs with different seeds spread as far as rounding can carry a kernel's results: another order
// of additions, fused multiply-adds, functions that are off by a few units in the last place,
// products of float32 in TF32. What lies far outside that spread is no matter of rounding.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

class Jitter {
 public:
  // 0: results are rounded as the interpreter defines.
  explicit Jitter(std::uint64_t seed) : state_(seed) {}
  // Another one for each program; 0 stays 0.
  static std::uint64_t seed_of(std::uint64_t seed, const std::array<std::int64_t, 3>& program);
  bool is_on() const { return state_ != 0; }

  // Does this op round its result, so that devices may differ?
  static bool applies(const Op& op, const Type& result);

  Tile elementwise(const Op& op, const Type& result, std::span<const Tile* const> operands);
  Tile dot(const Op& op, const Type& result, const Tile& a, const Tile& b, const Tile& accumulator);

 private:
  double chance();  // from -1 to 1
  Tile with_operands_rounded(Tile tile, double share);

  std::uint64_t state_;
};

}  // namespace tilewright::ir
