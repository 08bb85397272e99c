// SPDX-License-Identifier: Apache-2.0
// ir/analysis/memory_order.h — which memory ops may touch the same memory, so that their order
// counts. The only alias analysis: every pass and emitter that moves an access asks it.
//
// The origin of a pointer is the set of kernel arguments that it may be computed from, or unknown.
// Offsets, views, hints and casts between pointer types hand an origin on; select, join, if, for
// and while unite origins (a fixed point over loops). A pointer from an integer or from memory is
// unknown and may point anywhere. Different arguments are different memory unless the kernel says
// otherwise (KernelArgument::memory).
//
// Accesses of one origin overlap unless they are at the same place: the same address for every
// index, and no address twice in the tile. A load and a later store at the same place may share a
// walk over the elements; any other two that must be ordered may not. Strides that are known only
// at launch are taken to keep the elements of a tile apart.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

// Whether the op reads or writes memory through its first operand.
bool is_access(const Kernel& kernel, const Op& op);

class MemoryOrder {
 public:
  explicit MemoryOrder(const Kernel& kernel);

  // The one argument that a pointer is computed from; none when it may be several or unknown.
  Value argument_of(Value pointer) const;
  bool may_overlap(Value pointer, Value other) const;
  // Whether two accesses may touch the same memory and one of them writes.
  bool must_order(const Op& op, const Op& other) const;
  // Whether each element of one pointer is the same element of the other, and no other one.
  bool is_same_place(Value pointer, Value other) const;
  // Whether no element of one pointer is an element of the other, both in the same round of the
  // loops around them: affine tiles of one base, some known number of elements apart.
  bool is_apart(Value pointer, Value other) const;
  // The same for two rounds of a loop: either nothing of the pointer changes, so that every round
  // is at the same place, or what two rounds touch never overlaps.
  bool is_same_in_rounds(const Op& loop, Value pointer) const;
  bool is_apart_in_rounds(const Op& loop, Value pointer, Value other) const;
  // Of two accesses, whose masks count too.
  bool is_apart_in_rounds(const Op& loop, const Op& access, const Op& other) const;

 private:
  struct Origin {
    bool is_unknown = false;
    std::vector<std::uint32_t> arguments;  // sorted

    bool add(const Origin& other);  // whether anything was new
  };
  void trace(const Region& region, bool& changes);
  void trace(const Op& op, bool& changes);
  void trace_control(const Op& op, bool& changes);
  void unite(Value to, Value from, bool& changes);
  std::vector<Value> bases_of(Value pointer) const;
  // A scalar pointer as an argument or op plus values plus a number of elements.
  struct Base {
    Value root;
    std::vector<std::uint32_t> terms;  // sorted
    std::int64_t constant = 0;
  };
  Base base_of(Value pointer) const;
  void add_terms(Value amount, Base& base) const;
  Value handed_on(const Op& op) const;
  bool is_injective(Value pointer) const;
  bool is_defined_in(const Op& loop, Value value) const;
  std::int64_t extent_of(const Op& affine) const;
  std::int64_t step_of(const Op& loop, Value scalar) const;
  Value plain(Value value) const;
  bool is_non_negative(Value value) const;
  Value unit_of(const Op& loop, Value scalar) const;
  bool is_at_most(Value high, Value unit) const;

  const Kernel& kernel_;
  std::vector<Origin> origins_;  // by value
  std::vector<int> memories_;    // by argument, those that overlap have the same
};

}  // namespace tilewright::ir
