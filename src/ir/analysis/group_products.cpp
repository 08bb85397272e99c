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

// What the products of a group add to and read, by the ops that make the arrays.
struct ProductGroup {
  std::set<const Op*> sums, words, shared;

  void add(const ProductGroup& other) {
    sums.insert(other.sums.begin(), other.sums.end());
    words.insert(other.words.begin(), other.words.end());
    shared.insert(other.shared.begin(), other.shared.end());
  }
  bool is_empty() const { return sums.empty(); }
  friend bool operator==(const ProductGroup&, const ProductGroup&) = default;
};

struct ProductState {
  ProductGroup open;                 // not committed yet
  std::vector<ProductGroup> groups;  // newest first

  // Of two ways here: what may be so old on either.
  void join(const ProductState& other) {
    open.add(other.open);
    if (groups.size() < other.groups.size()) groups.resize(other.groups.size());
    for (std::size_t i = 0; i < other.groups.size(); ++i) groups[i].add(other.groups[i]);
  }
  friend bool operator==(const ProductState&, const ProductState&) = default;
};

class ProductWalk {
 public:
  explicit ProductWalk(const Kernel& kernel) : kernel_(kernel) {}

  UndrainedProduct run() {
    walk(kernel_.body);
    const bool goes_on =
        !state_.open.is_empty() ||
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
      const std::vector<LibraryEffect> effects = effects_of(function);
      const bool writes = std::any_of(effects.begin(), effects.end(), [&](const auto& effect) {
        return effect.kind == LibraryEffect::Kind::Write && effect.operand == static_cast<int>(k);
      });
      touch(op, op.operands[k], writes);
    }
  }

  void start(const Op& op) {
    state_.open.sums.insert(array_behind(kernel_, op.operands[0]));
    for (const std::size_t k : {1, 2}) {
      const bool is_words = kernel_.type(op.operands[k]).is_array();
      (is_words ? state_.open.words : state_.open.shared)
          .insert(array_behind(kernel_, op.operands[k]));
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
    const auto look = [&](const ProductGroup& group) {
      if (group.sums.contains(array)) find(op, "the sums of a product are touched that may go on");
      if (writes && group.words.contains(array))
        find(op, "words of a product are written that may go on");
      if (writes && group.shared.contains(array))
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
      return state_.join(after);
    }
    while (true) {
      const ProductState at_begin = state_;
      walk(op.regions[0]);
      const ProductState at_decision = state_;
      if (op.regions.size() > 1) walk(op.regions[1]);
      const ProductState at_end = std::exchange(state_, at_begin);
      state_.join(at_end);
      if (state_ != at_begin) continue;
      if (op.regions.size() > 1) state_ = at_decision;
      return;
    }
  }

  const Kernel& kernel_;
  ProductState state_;
  UndrainedProduct found_;
};

}  // namespace

UndrainedProduct find_undrained(const Kernel& kernel) { return ProductWalk(kernel).run(); }

}  // namespace tilewright::ir
