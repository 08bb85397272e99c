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

bool meets(const Op& op) {
  if (op.kind == OpKind::Barrier) return true;
  if (op.kind != OpKind::Call) return false;
  const LibraryFunction* function = find_library_function(op.text("function"));
  return function != nullptr && tilewright::meets(*function);
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

  bool is_of(const Access& other) const {
    return op == other.op && array == other.array && writes == other.writes &&
           slots == other.slots && is_under_way == other.is_under_way && loop == other.loop &&
           rounds == other.rounds;
  }
};
using Accesses = std::vector<Access>;

class SharedWalk {
 public:
  explicit SharedWalk(const Kernel& kernel) : kernel_(kernel), maps_(kernel), slots_(kernel) {}

  std::vector<Unordered> run() {
    walk(kernel_.body);
    for (const Access& access : pending_)
      if (access.is_under_way) report({nullptr, access.op, true});
    return std::move(found_);
  }

 private:
  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (op->facts().is(Family::Control)) control(*op);
      else if (op->kind == OpKind::Barrier) meet();
      else if (op->kind == OpKind::CommitCopies) commit();
      else if (op->kind == OpKind::WaitCopies) wait(op->integer("pending"));
      else if (op->kind == OpKind::Call) call(*op);
      else if (op->facts().is(Family::Final)) access(*op);
    }
  }

  // Copies go on.
  void meet() {
    std::erase_if(pending_, [](const Access& access) { return !access.is_under_way; });
  }
  void commit() {
    for (Access& access : pending_) ++access.commits;
  }
  // What is done is there for the thread alone until all meet.
  void wait(std::int64_t pending) {
    const Accesses before = std::exchange(pending_, {});
    for (Access access : before) {
      if (access.commits > pending && access.is_under_way) {
        access.is_under_way = false;
        access.loop = nullptr;
        access.rounds = 0;
      }
      merge({access});
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
    const LibraryFunction* function = find_library_function(op.text("function"));
    if (function == nullptr || function->operands.empty()) return;
    const std::size_t each = op.operands.size() / function->operands.size();
    for (const LibraryEffect& effect : effects_of(*function)) {
      if (effect.kind == LibraryEffect::Kind::Barrier) meet();
      if (effect.operand < 0) continue;
      // The first of a group stands for all of it.
      const Value operand = op.operands[static_cast<std::size_t>(effect.operand) * each];
      if (kernel_.type(operand).space == Space::Shared)
        note(op, operand, effect.kind != LibraryEffect::Kind::Read, {},
             effect.kind == LibraryEffect::Kind::Add);
    }
  }

  void control(const Op& op) {
    if (op.kind == OpKind::If) return branch(op);
    // Once more while a round leaves something that was not pending at the begin of it. A `while`
    // ends behind its first region, a `for` before its body too.
    const Accesses before = pending_;
    const bool is_for = op.kind == OpKind::For;
    if (is_for) enter(op);
    const Op* const outer = is_for && op.text("over") == "rounds" ? std::exchange(loop_, &op) : loop_;
    while (true) {
      const Accesses at_begin = pending_;
      walk(op.regions[0]);
      const Accesses at_decision = pending_;
      if (op.regions.size() > 1) walk(op.regions[1]);
      const Accesses at_end = std::exchange(pending_, at_begin);
      if (merge(is_for ? gone_round(op, at_end) : at_end)) continue;
      loop_ = outer;
      if (!is_for) {
        pending_ = at_decision;
        return;
      }
      pending_ = before;  // of a loop without rounds
      std::erase_if(pending_, [&](const Access& access) { return rounds_for(op, access) > 0; });
      merge(left(op, at_end));
      return;
    }
  }

  void branch(const Op& op) {
    const Accesses before = pending_;
    const std::uint64_t without = std::exchange(without_, without_ | maps_.zero_bits(op.operands[0]));
    holding_.push_back(op.operands[0]);
    walk(op.regions[0]);
    holding_.pop_back();
    without_ = without;
    const Accesses after = std::exchange(pending_, before);
    walk(op.regions[1]);
    merge(after);
  }

  // ---- Rounds: where a copy is started for a later one, the loop does not end before that.
  void enter(const Op& loop) {
    const Accesses before = std::exchange(pending_, {});
    for (Access access : before) {
      access.slots = slots_.entered(loop, access.slots);
      if (const std::int64_t rounds = rounds_for(loop, access); rounds > 1 && !access.loop) {
        access.loop = &loop;
        access.rounds = rounds - 1;
      }
      merge({access});
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

  Accesses gone_round(const Op& loop, Accesses accesses) const {
    for (Access& access : accesses) {
      access.slots = slots_.gone_round(loop, access.slots);
      if (access.loop == &loop && --access.rounds == 0) access.loop = nullptr;
    }
    return accesses;
  }

  Accesses left(const Op& loop, Accesses accesses) const {
    std::erase_if(accesses, [&](const Access& access) { return access.loop == &loop; });
    for (Access& access : accesses) access.slots = slots_.left(loop, access.slots);
    return accesses;
  }

  // Returns whether something is new.
  bool merge(const Accesses& others) {
    bool is_new = false;
    for (const Access& access : others) {
      const auto known = std::find_if(pending_.begin(), pending_.end(),
                                      [&](const Access& one) { return one.is_of(access); });
      if (known == pending_.end()) {
        pending_.push_back(access);
        is_new = true;
      } else if (access.is_under_way && access.commits < known->commits) {
        known->commits = access.commits;
        is_new = true;
      }
    }
    return is_new;
  }

  void note(const Op& op, Value array, bool writes, std::optional<BitMap> map = {},
            bool adds = false) {
    const Op* made = kernel_.maker(array);
    while (made && made->kind == OpKind::ArrayView) made = kernel_.maker(made->operands[0]);
    Access access{.op = &op, .end = std::int64_t{1} << 40, .writes = writes, .array = made};
    access.map = std::move(map);
    if (access.map) access.map->without = without_;
    access.adds = adds;
    if (access.map && op.kind == OpKind::Write && op.operands.size() > 3)
      access.map->without |= maps_.zero_bits(op.operands[3]);
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
    access.slots = slots_.of(array);
    if (op.kind == OpKind::CopyTo) note_copy(access);
    for (const Access& before : pending_) {
      const bool is_one_slot = before.array != access.array || before.slots.may_meet(access.slots);
      const bool meet = before.first < access.end && access.first < before.end && is_one_slot;
      const bool both_add = before.adds && adds;
      if (!meet || both_add || !(before.writes || writes)) continue;
      // The copies of one sweep go to different places.
      if (before.is_under_way && before.is_of(access)) continue;
      if (before.is_under_way) report({&op, before.op, true});
      else if (!is_same_thread(before, access)) report({&op, before.op});
    }
    merge({access});
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
  Accesses pending_;
  const Op* loop_ = nullptr;    // of rounds, the innermost
  std::vector<Value> holding_;  // conditions of the branches around
  std::uint64_t without_ = 0;  // bits of the thread's number that are 0 in the branch
  std::vector<Unordered> found_;
};

}  // namespace

std::vector<Unordered> find_unordered(const Kernel& kernel) {
  return SharedWalk(kernel).run();
}

}  // namespace tilewright::ir
