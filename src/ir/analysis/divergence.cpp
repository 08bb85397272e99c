// SPDX-License-Identifier: Apache-2.0
// ir/analysis/divergence.cpp — on which bits of the thread's number the values of its program
// depend, in the order of its ops; of arrays, what they hold at each op.
//
// Bits and not threads: where several threads hold copies of a tile, their numbers differ in bits
// that nothing depends on, and a sum over the others is the same for all of them.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/analysis/meetings.h"
#include "machine/library.h"

namespace tilewright::ir {
namespace {

using ThreadBits = std::uint64_t;

// What arrays hold, by the number of the array. Loops copy it for each of their rounds.
class ArrayStates {
 public:
  explicit ArrayStates(std::size_t count) : bits_(count, 0) {}

  std::optional<ThreadBits> at(std::size_t array) const {
    const bool is_known = array < bits_.size() && (bits_[array] & is_set) != 0;
    return is_known ? std::optional(bits_[array] & ~is_set) : std::nullopt;
  }
  // Nothing is known of arrays that have no number.
  void set(std::size_t array, ThreadBits bits) {
    if (array < bits_.size()) bits_[array] = bits | is_set;
  }
  // Returns whether that adds bits.
  bool join(const ArrayStates& other) {
    bool is_new = false;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      is_new |= (other.bits_[i] & ~bits_[i] & ~is_set) != 0;
      bits_[i] |= other.bits_[i];
    }
    return is_new;
  }

 private:
  static constexpr ThreadBits is_set = ThreadBits{1} << 63;  // no block has so many threads
  std::vector<ThreadBits> bits_;
};

class Divergence {
 public:
  explicit Divergence(const Kernel& kernel)
      : kernel_(kernel),
        bits_(kernel.value_count(), 0),
        thread_(*thread_op(kernel)),
        numbers_(number_arrays(kernel)),
        arrays_(numbers_.size()) {
    all_ = static_cast<ThreadBits>(thread_.integer("count")) - 1;
  }

  const Op* run() {
    walk(kernel_.body);
    return found_;
  }

 private:
  static std::unordered_map<const Op*, std::size_t> number_arrays(const Kernel& kernel) {
    std::unordered_map<const Op*, std::size_t> out;
    ir::walk(kernel.body, [&](const Op& op) {
      const bool makes_arrays =
          op.kind != OpKind::ArrayView &&
          std::any_of(op.results.begin(), op.results.end(),
                      [&](Value result) { return kernel.type(result).is_array(); });
      if (makes_arrays) out.emplace(&op, out.size());
    });
    return out;
  }

  ThreadBits of(Value value) const { return bits_[value.id]; }
  ThreadBits of(const std::vector<Value>& values) const {
    ThreadBits out = 0;
    for (const Value value : values) out |= of(value);
    return out;
  }
  // Returns whether there are new ones.
  bool add(Value value, ThreadBits more) {
    const ThreadBits before = std::exchange(bits_[value.id], of(value) | more);
    return before != of(value);
  }

  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (meets(*op) && found_ == nullptr && (apart_ != 0 || are_missed(*op))) found_ = op;
      if (op->facts().is(Family::Control)) control(*op);
      else if (op->facts().is(Family::Final)) final_stage(*op);
      else set(*op, is_seen_apart(*op) ? all_ : masked(*op));
    }
  }

  // Threads that look at different moments may see different things.
  static bool is_seen_apart(const Op& op) {
    return op.facts().is_atomic() || op.integer("volatile") != 0;
  }

  // "thread & 3" has the lowest two bits.
  ThreadBits masked(const Op& op) const {
    if (op.kind == OpKind::And && kernel_.maker(op.operands[0]) == &thread_)
      if (const Op* maker = kernel_.maker(op.operands[1]); maker && maker->kind == OpKind::Constant)
        return all_ & static_cast<ThreadBits>(maker->integer("value"));
    return of(op.operands);
  }

  void set(const Op& op, ThreadBits bits) {
    for (const Value value : op.results) bits_[value.id] = bits;
  }

  const Op* array_of(Value value) const {
    const Op* made = kernel_.maker(value);
    while (made && made->kind == OpKind::ArrayView) made = kernel_.maker(made->operands[0]);
    return made;
  }
  std::size_t number_of(const Op* array) const {
    const auto found = numbers_.find(array);
    return found == numbers_.end() ? numbers_.size() : found->second;
  }
  std::size_t number_of(Value array) const { return number_of(array_of(array)); }

  // Shared memory holds the same for all.
  ThreadBits held_by(Value array) const {
    if (kernel_.type(array).space == Space::Shared) return 0;
    return arrays_.at(number_of(array)).value_or(all_);
  }

  void fill(Value array, ThreadBits bits) {
    const Op* made = array_of(array);
    const bool is_whole = made && made->integer("count") == 1 && apart_ == 0;
    arrays_.set(number_of(made), bits | apart_ | (is_whole ? 0 : held_by(array)));
  }

  void final_stage(const Op& op) {
    switch (final_op(op.kind)) {
      case FinalOp::Thread:
        return set(op, all_);
      case FinalOp::Digit:
        return set(op, digit(op));
      case FinalOp::Array:
      case FinalOp::Group:
        arrays_.set(number_of(&op), of(op.operands));
        return set(op, 0);
      case FinalOp::Read:
        return set(op, of(op.operands) | held_by(op.operands[0]));
      case FinalOp::Write:
        return fill(op.operands[0], of(op.operands));
      case FinalOp::LoadTo:
        return fill(op.operands[0], of(op.operands) | held_if_array(op.operands[1]));
      case FinalOp::Call:
        return call(op);
      case FinalOp::ForPrograms:
      case FinalOp::ArrayView:
      case FinalOp::Linear:
      case FinalOp::All:
      case FinalOp::StoreFrom:
      case FinalOp::CopyTo:
      case FinalOp::Lines:
        return set(op, of(op.operands));
    }
  }

  ThreadBits held_if_array(Value value) const {
    return kernel_.type(value).is_array() ? held_by(value) : 0;
  }

  ThreadBits digit(const Op& op) const {
    if (kernel_.maker(op.operands[0]) != &thread_) return of(op.operands);
    const auto over = static_cast<ThreadBits>(op.integer("over"));
    const auto rest = static_cast<ThreadBits>(op.integer("of"));
    if (!std::has_single_bit(over) || (rest != 0 && !std::has_single_bit(rest))) return all_;
    return all_ & ~(over - 1) & (rest == 0 ? all_ : over * rest - 1);
  }

  // What threads have combined is the same in all of them.
  void call(const Op& op) {
    set(op, of(op.operands));
    if (!meets(op)) return;
    const LibraryFunction* function = called_function(op);
    if (function->kind == LibraryKind::SortBlock) return;  // all of it is shared
    if (op.operands.empty() || kernel_.type(op.operands[0]).space == Space::Shared) return;
    if (!function->operands.starts_with('A')) return fill(op.operands[0], all_);
    const std::size_t each = op.operands.size() / function->operands.size();
    if (function->operands.starts_with("AA")) {
      for (std::size_t k = each; k < 2 * each; ++k) arrays_.set(number_of(op.operands[k]), all_);
      return;
    }
    const std::vector<std::int64_t> numbers = op.integers("numbers");
    auto combined = static_cast<ThreadBits>(numbers[0]);
    if (function->operands.ends_with('S'))
      combined |= static_cast<ThreadBits>(numbers[1] * thread_.integer("lanes", 1));
    const bool is_scan =
        function->kind == LibraryKind::ScanLanes || function->kind == LibraryKind::ScanBlock;
    for (std::size_t k = 0; k < each; ++k)
      arrays_.set(number_of(op.operands[k]), is_scan ? held_by(op.operands[k]) | combined
                                                     : held_by(op.operands[k]) & ~combined);
  }

  void control(const Op& op) {
    const ThreadBits outside = apart_;
    if (parts_roles(kernel_, op)) roles(op);
    else if (op.kind == OpKind::If) branch(op);
    else loop(op);
    apart_ = outside;
  }

  // The producer is one thread, who meets nobody; all other threads consume, and none of those that
  // a block has besides comes where all of it meets.
  void roles(const Op& op) {
    const ArrayStates before = arrays_;
    apart_ = all_;
    walk(op.regions[0]);
    apart_ = 0;
    arrays_ = before;
    const bool outside = std::exchange(is_consuming_, true);
    walk(op.regions[1]);
    is_consuming_ = outside;
  }

  // Whether some of the threads that have to come have another role.
  bool are_missed(const Op& op) const {
    if (is_consuming_) return is_of_block(op);
    return op.kind == OpKind::Barrier && op.text("of") == "consumers";
  }

  // Whether all threads of the block have to come.
  static bool is_of_block(const Op& op) {
    if (op.kind == OpKind::Barrier) return op.text("of").empty();
    const LibraryFunction* function = called_function(op);
    const std::span<const LibraryEffect> effects =
        function ? effects_of(*function) : std::span<const LibraryEffect>{};
    return std::any_of(effects.begin(), effects.end(), [](const LibraryEffect& effect) {
      return effect.kind == LibraryEffect::Kind::Barrier;
    });
  }

  void branch(const Op& op) {
    apart_ |= of(op.operands[0]);
    const ArrayStates before = arrays_;
    walk(op.regions[0]);
    const ArrayStates after = std::exchange(arrays_, before);
    walk(op.regions[1]);
    arrays_.join(after);
    for (std::size_t k = 0; k < op.results.size(); ++k) {
      bits_[op.results[k].id] = of(op.operands[0]);
      for (const Region& region : op.regions)
        add(op.results[k], of(region.ops.back()->operands[k]));
    }
  }

  // Rounds until nothing new depends on the thread.
  void loop(const Op& op) {
    const bool is_for = op.kind == OpKind::For;
    const ThreadBits outside = apart_;
    ThreadBits ends = 0;
    const std::vector<Value>& head = op.regions[0].arguments;
    const std::vector<Value> carried(head.begin() + (is_for ? 1 : 0), head.end());
    if (is_for) {
      for (std::size_t k = 0; k < 3; ++k) ends |= of(op.operands[k]);
      bits_[head[0].id] = ends;
    }
    for (std::size_t k = 0; k < carried.size(); ++k)
      bits_[carried[k].id] = of(op.operands[k + (is_for ? 3 : 0)]);
    for (bool is_new = true; is_new;) {
      const ArrayStates before = arrays_;
      apart_ = outside | ends;
      walk(op.regions[0]);
      is_new = false;
      if (!is_for) {
        const Op& decision = *op.regions[0].ops.back();
        const ThreadBits known = std::exchange(ends, ends | of(decision.operands[0]));
        is_new |= known != ends;
        for (std::size_t k = 0; k < op.regions[1].arguments.size(); ++k)
          is_new |= add(op.regions[1].arguments[k], of(decision.operands[k + 1]));
        apart_ = outside | ends;
        walk(op.regions[1]);
      }
      const std::vector<Value>& next = op.regions.back().ops.back()->operands;
      for (std::size_t k = 0; k < carried.size(); ++k)
        is_new |= add(carried[k], of(next[k]) | ends);
      const ArrayStates after = std::exchange(arrays_, before);
      is_new |= arrays_.join(after);
    }
    const std::vector<Value>& last = is_for ? carried : op.regions[1].arguments;
    for (std::size_t k = 0; k < op.results.size(); ++k)
      bits_[op.results[k].id] = of(last[k]) | ends;
  }

  const Kernel& kernel_;
  std::vector<ThreadBits> bits_;  // by value
  const Op& thread_;
  ThreadBits all_ = 0;
  const std::unordered_map<const Op*, std::size_t>
      numbers_;  // of arrays, by the op that makes them
  ArrayStates arrays_;
  ThreadBits apart_ = 0;  // on which the control flow around depends
  bool is_consuming_ = false;
  const Op* found_ = nullptr;
};

}  // namespace

const Op* find_divergent(const Kernel& kernel) {
  const bool meet = std::any_of(kernel.body.ops.begin(), kernel.body.ops.end(),
                                [](const Op* op) { return holds_meeting(*op); });
  return meet && thread_op(kernel) ? Divergence(kernel).run() : nullptr;
}

}  // namespace tilewright::ir
