// SPDX-License-Identifier: Apache-2.0
// ir/analysis/bit_maps.h — an index of the program of a thread as a map of bits: which bits of it the
// bits of the thread's number and of the variables of loops with known bounds turn round.
//
// Places of elements of a tile are such maps (layout/layout.h), written with shifts, masks, sums of
// parts that have no bit in common, and exclusive ors. From two of them it is known whether one
// thread alone touches an element.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

// A bit of the thread's number (variable `none`), or of the variable of a loop.
using VariableBit = std::pair<std::uint32_t, int>;

struct BitMap {
  // What each bit turns round, in the order of the bits; 0 is left out.
  std::vector<std::pair<VariableBit, std::uint64_t>> columns;
  std::uint64_t offset = 0;
  std::uint64_t without = 0;  // bits of the thread's number that are 0 in all threads that come here

  std::uint64_t image() const;  // all bits that may be set
};

class BitMaps {
 public:
  explicit BitMaps(const Kernel& kernel);

  // None where the index is not such a map.
  std::optional<BitMap> of(Value index) const;
  // Of `count` neighbours from there on, which is a power of two.
  std::optional<BitMap> of(Value index, std::int64_t count) const;
  // Bits of the thread's number that are 0 where a condition holds.
  std::uint64_t zero_bits(Value condition) const;
  // Whether an element that one thread has by the first map and one by the second is always of the
  // same thread, in whichever rounds of the loops.
  bool is_same_thread(const BitMap& a, const BitMap& b) const;

 private:
  std::optional<BitMap> sum(const Op& op) const;
  std::optional<BitMap> digit(const Op& op) const;

  const Kernel& kernel_;
  std::map<std::uint32_t, int> bits_;  // of the variables of loops, by value
  int thread_bits_ = 0;
};

}  // namespace tilewright::ir
