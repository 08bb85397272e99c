// SPDX-License-Identifier: Apache-2.0
// ir/verify_held.cpp — rule L3 of verify_laid.h, what buffers hold: a tile is read from its buffer
// only where no other one was written there since, over the back edges of loops too.
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/analysis/placed_tiles.h"
#include "ir/verify_laid.h"
#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

using Values = std::span<const Value>;

class HeldRules {
 public:
  explicit HeldRules(const Kernel& kernel)
      : kernel_(kernel), tiles_(kernel), held_(kernel.buffers.size()) {}

  void check() { visit(kernel_.body); }

 private:
  // By buffer, the tile that it holds; none: nothing, or one of several.
  using Held = std::vector<Value>;

  // Slots are filled by copies.
  int buffer_of(Value value) const {
    const int buffer = tiles_.buffer_of(value);
    return buffer >= 0 && kernel_.buffers[static_cast<std::size_t>(buffer)].has_slots() ? -1
                                                                                        : buffer;
  }

  void read(const Op& op, const std::vector<Value>& values) const {
    for (const Value value : values) {
      const int buffer = buffer_of(value);
      if (buffer < 0 || held_[static_cast<std::size_t>(buffer)] == value) continue;
      fail_verification(
          kernel_, &op,
          fmt::format("rule L3: buffer '{}' no longer holds the tile{} that is read from it",
                      kernel_.buffers[static_cast<std::size_t>(buffer)].name,
                      kernel_.name_of(value).empty() ? "" : " %" + kernel_.name_of(value)));
    }
  }

  void write(Values values) {
    for (const Value value : values)
      if (const int buffer = buffer_of(value); buffer >= 0)
        held_[static_cast<std::size_t>(buffer)] = value;
  }

  // What both hold.
  static Held meet(Held a, const Held& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) a[i] = Value{};
    return a;
  }

  void visit(const Region& region) {
    for (const Op* op : region.ops)
      if (!op->facts().is(Family::Ends)) visit(*op);
  }

  void visit(const Op& op) {
    if (op.kind == OpKind::Sweep) {
      if (tiles_.is_on_demand(op)) return;
      read(op, tiles_.reads_of_sweep(op));
      return write(op.results);
    }
    if (op.facts().has(Loops)) return visit_loop(op);
    if (op.kind == OpKind::If) return visit_branches(op);
    if (!op.facts().is(Family::Across)) return;
    read(op, tiles_.reads_of(op.operands));
    write(op.results);
  }

  void visit_branches(const Op& op) {
    const Held before = held_;
    std::vector<Held> ends;
    for (const Region& region : op.regions) {
      held_ = before;
      visit(region);
      read(op, tiles_.reads_of(region.ops.back()->operands));
      write(op.results);
      ends.push_back(held_);
    }
    held_ = meet(std::move(ends[0]), ends[1]);
  }

  // Until what the first round begins with is what every round does.
  void visit_loop(const Op& op) {
    read(op, tiles_.reads_of(op.operands));
    write(op.regions[0].arguments);
    for (Held begin = held_;; begin = held_) {
      visit(op.regions[0]);
      Held leaves = held_;
      if (op.regions.size() > 1) leaves = visit_body(op);
      read(op, tiles_.reads_of(op.regions.back().ops.back()->operands));
      write(op.regions[0].arguments);
      held_ = meet(std::move(held_), begin);
      if (held_ != begin) continue;
      // A `for` may have no rounds: its results are what it carries.
      if (op.regions.size() > 1) held_ = std::move(leaves);
      return write(op.results);
    }
  }

  // Of a `while`; returns what buffers hold where it ends, which is before the body.
  Held visit_body(const Op& op) {
    read(op, tiles_.reads_of(op.regions[0].ops.back()->operands));
    write(op.regions[1].arguments);
    Held leaves = held_;
    visit(op.regions[1]);
    return leaves;
  }

  const Kernel& kernel_;
  PlacedTiles tiles_;
  Held held_;
};

}  // namespace

void verify_held(const Kernel& kernel) { HeldRules(kernel).check(); }

}  // namespace tilewright::ir
