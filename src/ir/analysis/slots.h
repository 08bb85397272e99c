// SPDX-License-Identifier: Apache-2.0
// ir/analysis/slots.h — which slots of a buffer a view may be, counted from a number that a loop
// carries round: those of one round and of the next are told apart by their distances.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/kernel.h"

namespace tilewright::ir {

// Bit d of the masks stands for slot (root + d) mod of.
struct Slots {
  std::int64_t of = 0;     // how many there are; 0: the array has no slots
  Value root = {};         // an argument of a loop; none: the numbers themselves
  std::uint64_t mask = 0;  // what it may be
  std::uint64_t next = 0;  // the same where the root's loop has another round

  bool may_meet(const Slots& other) const {
    return of == 0 || of != other.of || root != other.root || (mask & other.mask) != 0;
  }
  friend bool operator==(const Slots&, const Slots&) = default;
};

class SlotNumbers {
 public:
  explicit SlotNumbers(const Kernel& kernel);

  // Of a view, or a view of a view, of the array that an op makes, or of a descriptor of one.
  Slots of(Value view) const;
  // The view of a slot that it is taken from; none: it is taken from the array itself.
  Value slot_view(Value view) const;

  // What is known where a loop begins, where it goes round, and behind it.
  Slots entered(const Op& loop, Slots slots) const;
  Slots gone_round(const Op& loop, Slots slots) const;
  Slots left(const Op& loop, Slots slots) const;

 private:
  // The argument of a loop: (root + by) mod of; the root begins as `initial` and grows by `step`.
  struct Carried {
    Value root;
    std::int64_t by = 0, initial = 0, step = 0;
  };
  struct Argument {
    const Op* loop = nullptr;
    std::size_t number = 0;
  };
  Slots slots_of(Value slot, std::int64_t of) const;
  const std::optional<Carried>& carried(Value argument, std::int64_t of) const;
  std::optional<Carried> find_carried(Value argument, std::int64_t of) const;
  std::optional<std::int64_t> distance(Value slot, Value leaf, std::int64_t of) const;

  const Kernel& kernel_;
  std::unordered_map<std::uint32_t, Argument> arguments_;  // of loops, but for their indices
  // What was found of arguments: each loop asks of all of its own, for every access.
  mutable std::map<std::pair<std::uint32_t, std::int64_t>, std::optional<Carried>> carried_;
};

}  // namespace tilewright::ir
