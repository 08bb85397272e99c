// SPDX-License-Identifier: Apache-2.0
// ir/analysis/meetings.cpp — accesses to shared memory between meetings.
#include "ir/analysis/meetings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/analysis/bit_maps.h"
#include "ir/analysis/rounds.h"
#include "ir/analysis/slots.h"
#include "machine/library.h"

namespace tilewright::ir {

const LibraryFunction* called_function(const Op& op) {
  return op.kind == OpKind::Call ? find_library_function(op.text("function")) : nullptr;
}

bool meets(const Op& op) {
  if (op.kind == OpKind::Barrier) return true;
  const LibraryFunction* function = called_function(op);
  return function != nullptr && tilewright::meets(*function);
}

bool parts_roles(const Kernel& kernel, const Op& op) {
  const Op* asked = op.kind == OpKind::If ? kernel.maker(op.operands[0]) : nullptr;
  return asked && asked->kind == OpKind::IsProducer;
}

const Op* array_behind(const Kernel& kernel, Value value) {
  const Op* made = kernel.maker(value);
  while (made && (made->kind == OpKind::ArrayView || made->kind == OpKind::Call) &&
         !made->operands.empty())
    made = kernel.maker(made->operands[0]);
  return made && (made->kind == OpKind::Array || made->kind == OpKind::Group) ? made : nullptr;
}

bool holds_meeting(const Op& op) {
  if (meets(op)) return true;
  return std::any_of(op.regions.begin(), op.regions.end(), [](const Region& region) {
    return std::any_of(region.ops.begin(), region.ops.end(),
                       [](const Op* inner) { return holds_meeting(*inner); });
  });
}

const Op* thread_op(const Kernel& kernel) {
  for (const Op* op : kernel.body.ops)
    if (op->kind == OpKind::Thread) return op;
  return nullptr;
}

namespace {

struct Access {
  const Op* op = nullptr;
  std::int64_t first = 0, end = 0;  // bytes
  bool writes = false;
  bool adds = false;  // which others may do at the same time
  const Op* array = nullptr;
  std::optional<BitMap> map = {};  // which of its elements each thread touches
  Slots slots = {};

  // Of a copy, until it was waited for.
  bool is_under_way = false;
  int commits = 0;                  // at least, since it was started
  std::vector<Value> holding = {};  // conditions under which it was
  const Op* loop = nullptr;         // that surely has more rounds
  std::int64_t rounds = 0;          // behind the one that it is in
  bool is_of_warps = false;         // each warp has a part of the array

  bool overlaps(const Access& other) const {
    return first < other.end && other.first < end &&
           (array != other.array || slots.may_meet(other.slots));
  }
  bool is_of(const Access& other) const {
    return op == other.op && array == other.array && writes == other.writes &&
           slots == other.slots && is_under_way == other.is_under_way && loop == other.loop &&
           rounds == other.rounds && holding == other.holding;
  }
};
using Accesses = std::vector<Access>;

class SharedWalk {
 public:
  explicit SharedWalk(const Kernel& kernel) : kernel_(kernel), maps_(kernel), slots_(kernel) {}

  std::vector<Unordered> run() {
    walk(kernel_.body);
    for (const Access& access : state_.pending)
      if (access.is_under_way) report({nullptr, access.op, false, true});
    return std::move(found_);
  }
  std::vector<Unordered> unshown() { return std::move(not_shown_); }

 private:
  // What may have happened since the last barrier.
  struct State {
    Accesses pending;
    Accesses unshown;  // writes that products need not see, however often threads have met
    Accesses shown;    // writes that they see once the threads meet
    Accesses reading;  // what products read that may go on
  };

  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (op->facts().is(Family::Control)) control(*op);
      else if (op->kind == OpKind::Barrier) meet(*op);
      else if (op->kind == OpKind::CommitCopies) commit();
      else if (op->kind == OpKind::WaitCopies) wait(op->integer("pending"));
      else if (op->kind == OpKind::Call) call(*op);
      else if (op->facts().is(Family::Final)) access(*op);
    }
  }

  // Copies go on.
  void meet() {
    std::erase_if(state_.pending, [](const Access& access) { return !access.is_under_way; });
    state_.shown.clear();
  }
  void meet(const Op& barrier) {
    if (barrier.text("of") != "warp") return meet();
    std::erase_if(state_.pending, [](const Access& access) {
      return access.is_of_warps && !access.is_under_way;
    });
  }
  void commit() {
    for (Access& access : state_.pending) ++access.commits;
  }
  // What is done is there for the thread alone until all meet.
  void wait(std::int64_t pending) {
    const Accesses before = std::exchange(state_.pending, {});
    for (Access access : before) {
      if (access.commits > pending && access.is_under_way) {
        access.is_under_way = false;
        access.loop = nullptr;
        access.rounds = 0;
        access.holding.clear();
      }
      merge(state_.pending, {access});
    }
  }

  // The first operand of what writes an array is that array.
  void access(const Op& op) {
    if (op.kind == OpKind::ArrayView) return;
    const bool reads_first = op.kind == OpKind::Read;
    for (std::size_t k = 0; k < op.operands.size(); ++k)
      if (kernel_.type(op.operands[k]).space == Space::Shared)
        note(op, op.operands[k], k == 0 && !reads_first, map_of(op, op.operands[k]));
  }

  // Which elements the thread touches.
  std::optional<BitMap> map_of(const Op& op, Value array) const {
    // A slot too: of two accesses to different ones nobody asks.
    const auto is_array = [&](Value value) {
      const Op* made = kernel_.maker(value);
      return made && (made->kind == OpKind::Array || slots_.slot_view(value) == value);
    };
    if (op.kind == OpKind::Read || op.kind == OpKind::Write)
      return is_array(array) ? maps_.of(op.operands[1]) : std::nullopt;
    const Op* view = kernel_.maker(array);
    if (!view || view->kind != OpKind::ArrayView || !is_array(view->operands[0]))
      return std::nullopt;
    return maps_.of(view->operands[1], op.integer("count"));
  }

  bool is_same_thread(const Access& a, const Access& b) const {
    return a.array == b.array && a.map && b.map && maps_.is_same_thread(*a.map, *b.map);
  }

  void call(const Op& op) {
    const LibraryFunction* function = called_function(op);
    if (function == nullptr) return;
    if (function->kind == LibraryKind::StartProduct) return start_product(op);
    if (function->kind == LibraryKind::WaitProducts) return wait_products(op);
    const bool has_groups = function->operands.starts_with('A');
    const std::size_t each = has_groups ? op.operands.size() / function->operands.size() : 1;
    for (const LibraryEffect& effect : effects_of(*function)) {
      if (effect.kind == LibraryEffect::Kind::Barrier ||
          effect.kind == LibraryEffect::Kind::Cluster)
        meet();
      if (effect.kind == LibraryEffect::Kind::Show)
        merge(state_.shown, std::exchange(state_.unshown, {}));
      if (effect.operand < 0) continue;
      // The first of a group stands for all of it.
      const Value operand = op.operands[static_cast<std::size_t>(effect.operand) * each];
      if (kernel_.type(operand).space == Space::Shared)
        note(op, operand, effect.kind != LibraryEffect::Kind::Read, {},
             effect.kind == LibraryEffect::Kind::Add);
    }
  }

  // What was written and shown is behind a barrier; what was not shown is rule F6.
  void start_product(const Op& op) {
    for (const std::size_t k : {1, 2}) {
      if (kernel_.type(op.operands[k]).is_array()) continue;
      const Access access = access_of(op, array_behind(kernel_, op.operands[k]), false);
      for (const Access& before : state_.shown)
        if (before.overlaps(access)) report({&op, before.op});
      for (const Access& before : state_.unshown)
        if (before.overlaps(access)) not_shown_.push_back({&op, before.op});
      merge(state_.reading, {access});
    }
  }

  // Who writes there next must come after all of those that wait.
  void wait_products(const Op& op) {
    for (Access access : state_.reading) {
      access.op = &op;
      merge(state_.pending, {access});
    }
    if (op.integers("numbers")[0] == 0) state_.reading.clear();
  }

  void control(const Op& op) {
    if (op.kind == OpKind::If) return branch(op);
    // Once more while a round leaves something that was not pending at the begin of it. A `while`
    // ends behind its first region, a `for` before its body too.
    const State before = state_;
    const bool is_for = op.kind == OpKind::For;
    if (is_for) enter(op);
    const Op* const outer = loop_;
    if (is_for && op.text("over") == "rounds") loop_ = &op;
    while (true) {
      const State at_begin = state_;
      walk(op.regions[0]);
      const State at_decision = state_;
      if (op.regions.size() > 1) walk(op.regions[1]);
      const State at_end = std::exchange(state_, at_begin);
      if (merge(gone_round(op, at_end))) continue;
      loop_ = outer;
      if (!is_for) {
        state_ = at_decision;
        return;
      }
      state_ = before;  // of a loop without rounds
      std::erase_if(state_.pending,
                    [&](const Access& access) { return rounds_for(op, access) > 0; });
      merge(left(op, at_end));
      return;
    }
  }

  void branch(const Op& op) {
    const State before = state_;
    const std::uint64_t without =
        std::exchange(without_, without_ | maps_.zero_bits(op.operands[0]));
    holding_.push_back(op.operands[0]);
    walk(op.regions[0]);
    holding_.pop_back();
    without_ = without;
    const State after = std::exchange(state_, before);
    walk(op.regions[1]);
    merge(after);
  }

  // ---- Rounds: where a copy is started for a later one, the loop does not end before that.
  void enter(const Op& loop) {
    const Accesses before = std::exchange(state_.pending, {});
    for (Access access : before) {
      access.slots = slots_.entered(loop, access.slots);
      if (const std::int64_t rounds = rounds_for(loop, access); rounds > 1 && !access.loop) {
        access.loop = &loop;
        access.rounds = rounds - 1;
      }
      merge(state_.pending, {access});
    }
  }

  // That a loop surely has, by what held when a copy was started.
  std::int64_t rounds_for(const Op& loop, const Access& access) const {
    constexpr std::int64_t most = 64;  // more are not counted
    if (!access.is_under_way || loop.text("over") != "rounds") return 0;
    std::int64_t rounds = rounds_to_come(kernel_, loop, {});
    for (const Value condition : access.holding)
      rounds = std::max(rounds, rounds_to_come(kernel_, loop, condition));
    return std::min(rounds, most);
  }

  // Conditions of another round say nothing of this one.
  State gone_round(const Op& loop, State state) const {
    for (Accesses* part : {&state.unshown, &state.shown, &state.reading})
      for (Access& access : *part) access.slots = slots_.gone_round(loop, access.slots);
    const bool is_round = loop.kind != OpKind::For || loop.text("over") == "rounds";
    for (Access& access : state.pending) {
      if (is_round) access.holding.clear();
      access.slots = slots_.gone_round(loop, access.slots);
      if (access.loop == &loop && --access.rounds == 0) access.loop = nullptr;
    }
    return state;
  }

  State left(const Op& loop, State state) const {
    std::erase_if(state.pending, [&](const Access& access) { return access.loop == &loop; });
    for (Accesses* part : {&state.pending, &state.unshown, &state.shown, &state.reading})
      for (Access& access : *part) access.slots = slots_.left(loop, access.slots);
    return state;
  }

  // These return whether something is new.
  static bool merge(Accesses& to, const Accesses& others) {
    bool is_new = false;
    for (const Access& access : others) {
      const auto known = std::find_if(to.begin(), to.end(),
                                      [&](const Access& one) { return one.is_of(access); });
      if (known == to.end()) {
        to.push_back(access);
        is_new = true;
      } else if (access.is_under_way && access.commits < known->commits) {
        known->commits = access.commits;
        is_new = true;
      }
    }
    return is_new;
  }
  bool merge(const State& other) {
    const bool is_new[] = {merge(state_.pending, other.pending), merge(state_.unshown, other.unshown),
                           merge(state_.shown, other.shown), merge(state_.reading, other.reading)};
    return std::any_of(std::begin(is_new), std::end(is_new), [](bool one) { return one; });
  }

  Access access_of(const Op& op, const Op* made, bool writes) const {
    Access access{.op = &op, .end = std::int64_t{1} << 40, .writes = writes, .array = made};
    access.is_of_warps = made && made->integer("warps") != 0;
    if (made && made->find("offset")) {
      // The members of a group lie in words side by side.
      constexpr std::int64_t word = 8;
      const auto bytes = made->kind == OpKind::Group
                             ? word * static_cast<std::int64_t>(made->results.size())
                             : static_cast<std::int64_t>(
                                   kernel_.type(made->result()).element().element_bytes());
      access.first = made->integer("offset");
      access.end = access.first + made->integer("count") * bytes;
    }
    return access;
  }

  void note(const Op& op, Value array, bool writes, std::optional<BitMap> map = {},
            bool adds = false) {
    Access access = access_of(op, array_behind(kernel_, array), writes);
    access.map = std::move(map);
    if (access.map) access.map->without = without_;
    access.adds = adds;
    if (access.map && op.kind == OpKind::Write && op.operands.size() > 3)
      access.map->without |= maps_.zero_bits(op.operands[3]);
    access.slots = slots_.of(array);
    if (op.kind == OpKind::CopyTo) note_copy(access);
    for (const Access& before : state_.pending) {
      const bool both_add = before.adds && adds;
      if (!before.overlaps(access) || both_add || !(before.writes || writes)) continue;
      // The copies of one sweep go to different places.
      if (before.is_under_way && before.is_of(access)) continue;
      if (before.is_under_way) report({&op, before.op, false, true});
      else if (!is_same_thread(before, access))
        report({&op, before.op, before.is_of_warps && access.is_of_warps});
    }
    if (writes && !adds) merge(state_.unshown, {access});
    merge(state_.pending, {access});
  }

  void note_copy(Access& access) const {
    access.is_under_way = true;
    access.holding = holding_;
    if (access.op->operands.size() > 3) access.holding.push_back(access.op->operands[3]);
    if (loop_ == nullptr) return;
    for (const Value condition : access.holding)
      access.rounds = std::max(access.rounds, rounds_behind(kernel_, *loop_, condition));
    if (access.rounds > 0) access.loop = loop_;
  }

  void report(const Unordered& pair) {
    const auto is_known = [&](const Unordered& other) {
      return other.op == pair.op && other.before == pair.before &&
             other.is_under_way == pair.is_under_way;
    };
    if (std::none_of(found_.begin(), found_.end(), is_known)) found_.push_back(pair);
  }

  const Kernel& kernel_;
  const BitMaps maps_;
  const SlotNumbers slots_;
  const Op* loop_ = nullptr;    // of rounds, the innermost
  std::vector<Value> holding_;  // conditions of the branches around
  State state_;
  std::uint64_t without_ = 0;  // bits of the thread's number that are 0 in the branch
  std::vector<Unordered> found_, not_shown_;
};

}  // namespace

std::vector<Unordered> find_unordered(const Kernel& kernel) {
  return SharedWalk(kernel).run();
}

std::vector<Unordered> find_unshown(const Kernel& kernel) {
  SharedWalk walk(kernel);
  static_cast<void>(walk.run());
  return walk.unshown();
}

}  // namespace tilewright::ir
