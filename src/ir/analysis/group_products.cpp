// SPDX-License-Identifier: Apache-2.0
// ir/analysis/group_products.cpp — groups of products, newest first, forward over the ops; loops
// until no group holds anything new.
#include "ir/analysis/group_products.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "ir/analysis/meetings.h"

namespace tilewright::ir {
namespace {

// What the products of a group add to and read: arrays of the thread, by the ops that make them,
// and places in shared memory.
struct ProductGroup {
  std::set<const Op*> sums, words;
  std::vector<SharedPlace> shared;

  void add(const ProductGroup& other) {
    sums.insert(other.sums.begin(), other.sums.end());
    words.insert(other.words.begin(), other.words.end());
    for (const SharedPlace& place : other.shared) add(place);
  }
  void add(const SharedPlace& place) {
    if (std::find(shared.begin(), shared.end(), place) == shared.end()) shared.push_back(place);
  }
  bool reads(const SharedPlace& place) const {
    return std::any_of(shared.begin(), shared.end(),
                       [&](const SharedPlace& read) { return read.overlaps(place); });
  }
  // The same where a loop begins, goes round or has ended.
  template <class Move>
  void move_slots(const Move& move) {
    for (SharedPlace& place : std::exchange(shared, {})) {
      place.slots = move(place.slots);
      add(place);
    }
  }
  bool is_empty() const { return sums.empty(); }
  std::size_t size() const { return sums.size() + words.size() + shared.size(); }
};

struct ProductState {
  ProductGroup open;                 // not committed yet
  std::vector<ProductGroup> groups;  // newest first

  // Of two ways here: what may be so old on either. Returns whether something is new.
  bool join(const ProductState& other) {
    const std::size_t before = size();
    open.add(other.open);
    if (groups.size() < other.groups.size()) groups.resize(other.groups.size());
    for (std::size_t i = 0; i < other.groups.size(); ++i) groups[i].add(other.groups[i]);
    return size() != before;
  }
  template <class Move>
  void move_slots(const Move& move) {
    open.move_slots(move);
    for (ProductGroup& group : groups) group.move_slots(move);
  }

 private:
  std::size_t size() const {
    std::size_t out = open.size() + groups.size();
    for (const ProductGroup& group : groups) out += group.size();
    return out;
  }
};

class ProductWalk {
 public:
  explicit ProductWalk(const Kernel& kernel) : kernel_(kernel), slots_(kernel) {}

  UndrainedProduct run() {
    walk(kernel_.body);
    const bool goes_on = !state_.open.is_empty() ||
                         std::any_of(state_.groups.begin(), state_.groups.end(),
                                     [](const ProductGroup& group) { return !group.is_empty(); });
    if (goes_on && !kernel_.body.ops.empty())
      find(*kernel_.body.ops.back(), "the kernel ends before a product is waited for");
    return found_;
  }

 private:
  static constexpr std::size_t most_groups = 8;

  void find(const Op& op, const char* what) {
    if (found_.op == nullptr) found_ = {&op, what};
  }

  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (op->facts().is(Family::Control)) control(*op);
      else if (const LibraryFunction* function = called_function(*op)) call(*op, *function);
      else if (op->facts().is(Family::Final)) access(*op);
    }
  }

  void call(const Op& op, const LibraryFunction& function) {
    if (function.kind == LibraryKind::StartProduct) return start(op);
    if (function.kind == LibraryKind::CommitProducts) {
      state_.groups.insert(state_.groups.begin(), std::exchange(state_.open, {}));
      // A loop that never waits has no more than this to say.
      while (state_.groups.size() > most_groups) {
        state_.groups[most_groups - 1].add(state_.groups.back());
        state_.groups.pop_back();
      }
      return;
    }
    if (function.kind == LibraryKind::WaitProducts) {
      const auto pending = static_cast<std::size_t>(op.integers("numbers")[0]);
      if (state_.groups.size() > pending) state_.groups.resize(pending);
      return;
    }
    for (std::size_t k = 0; k < op.operands.size(); ++k) {
      const std::span<const LibraryEffect> effects = effects_of(function);
      const bool writes = std::any_of(effects.begin(), effects.end(), [&](const auto& effect) {
        return effect.kind == LibraryEffect::Kind::Write && effect.operand == static_cast<int>(k);
      });
      touch(op, op.operands[k], writes);
    }
  }

  void start(const Op& op) {
    state_.open.sums.insert(array_behind(kernel_, op.operands[0]));
    for (const std::size_t k : {1, 2}) {
      if (kernel_.type(op.operands[k]).is_array())
        state_.open.words.insert(array_behind(kernel_, op.operands[k]));
      else state_.open.add(shared_place(kernel_, slots_, op.operands[k]));
    }
  }

  // The first operand of what writes an array is that array.
  void access(const Op& op) {
    if (op.kind == OpKind::ArrayView) return;
    const bool writes = op.kind != OpKind::Read;
    for (std::size_t k = 0; k < op.operands.size(); ++k)
      touch(op, op.operands[k], writes && k == 0);
  }

  void touch(const Op& op, Value value, bool writes) {
    if (!kernel_.type(value).is_array()) return;
    const Op* array = array_behind(kernel_, value);
    const bool is_shared = kernel_.type(value).space == Space::Shared;
    const SharedPlace place = is_shared ? shared_place(kernel_, slots_, value) : SharedPlace{};
    const auto look = [&](const ProductGroup& group) {
      if (group.sums.contains(array)) find(op, "the sums of a product are touched that may go on");
      if (writes && group.words.contains(array))
        find(op, "words of a product are written that may go on");
      if (writes && is_shared && group.reads(place))
        find(op, "what a product reads is written while it may go on");
    };
    look(state_.open);
    for (const ProductGroup& group : state_.groups) look(group);
  }

  void control(const Op& op) {
    const ProductState before = state_;
    if (op.kind == OpKind::If) {
      walk(op.regions[0]);
      const ProductState after = std::exchange(state_, before);
      walk(op.regions[1]);
      state_.join(after);
      return;
    }
    state_.move_slots([&](const Slots& slots) { return slots_.entered(op, slots); });
    while (true) {
      const ProductState at_begin = state_;
      walk(op.regions[0]);
      const ProductState at_decision = state_;
      if (op.regions.size() > 1) walk(op.regions[1]);
      ProductState at_end = std::exchange(state_, at_begin);
      at_end.move_slots([&](const Slots& slots) { return slots_.gone_round(op, slots); });
      if (state_.join(at_end)) continue;
      if (op.regions.size() > 1) state_ = at_decision;
      state_.move_slots([&](const Slots& slots) { return slots_.left(op, slots); });
      return;
    }
  }

  const Kernel& kernel_;
  const SlotNumbers slots_;
  ProductState state_;
  UndrainedProduct found_;
};

}  // namespace

UndrainedProduct find_undrained(const Kernel& kernel) { return ProductWalk(kernel).run(); }

}  // namespace tilewright::ir
