// SPDX-License-Identifier: Apache-2.0
// ir/analysis/meetings.cpp — accesses to shared memory between meetings.
#include "ir/analysis/meetings.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/analysis/bit_maps.h"
#include "ir/analysis/rounds.h"
#include "ir/analysis/slots.h"
#include "machine/library.h"

namespace tilewright::ir {

bool meets(const Op& op) {
  if (op.kind == OpKind::Barrier) return true;
  const LibraryFunction* function = called_function(op);
  return function != nullptr && function->is(LibraryFamily::Together);
}

bool parts_roles(const Kernel& kernel, const Op& op) {
  const Op* asked = op.kind == OpKind::If ? kernel.maker(op.operands[0]) : nullptr;
  return asked && asked->kind == OpKind::IsProducer;
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

// Whether a function does no more than to read, write or add, or to start products.
bool only_accesses(const LibraryFunction& function) {
  const std::span<const LibraryEffect> effects = effects_of(function);
  return function.kind != LibraryKind::CommitProducts &&
         function.kind != LibraryKind::WaitProducts && function.kind != LibraryKind::WaitBoxes &&
         std::all_of(effects.begin(), effects.end(), [](const LibraryEffect& effect) {
           using Kind = LibraryEffect::Kind;
           return effect.kind == Kind::Read || effect.kind == Kind::Write ||
                  effect.kind == Kind::Add;
         });
}

// States of a walk are copied again and again: an access owns nothing.
struct Access {
  const Op* op = nullptr;
  SharedPlace place = {};
  bool writes = false;
  bool adds = false;            // which others may do at the same time
  const BitMap* map = nullptr;  // which elements of the array each thread touches

  // Of a copy or of what a product reads, until it was waited for.
  bool is_under_way = false;
  int commits = 0;                           // at least, since it was started
  const std::vector<Value>* when = nullptr;  // conditions under which it was
  const Op* loop = nullptr;                  // that surely has more rounds
  std::int64_t rounds = 0;                   // behind the one that it is in
  bool is_of_warps = false;                  // each warp has a part of the array

  bool overlaps(const Access& other) const { return place.overlaps(other.place); }
  bool is_of(const Access& other) const {
    return op == other.op && place == other.place && writes == other.writes &&
           is_under_way == other.is_under_way && loop == other.loop && rounds == other.rounds &&
           when == other.when;
  }
  void end() {
    is_under_way = false;
    commits = 0;
    loop = nullptr;
    rounds = 0;
    when = nullptr;
  }
};
using Accesses = std::vector<Access>;

// What is known of the accesses of an op, which stands in one place.
struct KnownAccess {
  Access access;
  std::optional<BitMap> map;
  std::vector<Value> when;
};

class SharedWalk {
 public:
  explicit SharedWalk(const Kernel& kernel) : kernel_(kernel), maps_(kernel), slots_(kernel) {
    for (const Op* op : kernel.body.ops) find_touching(*op);
  }

  SharedFindings run() {
    state_ = {};
    found_.clear();
    not_shown_.clear();
    only_adds_.clear();
    walk(kernel_.body);
    for (const Access& access : state_.pending)
      if (access.is_under_way) report({nullptr, access.op, false, true});
    for (const Access& access : state_.storing) report({nullptr, access.op, false, true});
    return {std::move(found_), std::move(not_shown_)};
  }
  bool has_readers() const { return has_readers_; }

 private:
  // What may have happened since the last barrier.
  struct State {
    Accesses pending;
    Accesses unshown;  // writes that products need not see, however often threads have met
    Accesses shown;    // writes that they see once the threads meet
    Accesses reading;  // what products read that may go on
    Accesses storing;  // what stores by tensor maps read that may go on
  };

  // Loops and branches that do nothing to shared memory are left out.
  bool find_touching(const Op& op) {
    bool touches = touches_shared(op);
    for (const Region& region : op.regions)
      for (const Op* inner : region.ops) touches |= find_touching(*inner);
    if (touches && op.facts().is(Family::Control)) touching_.insert(&op);
    return touches;
  }
  bool touches_shared(const Op& op) {
    const bool has_shared = std::any_of(op.operands.begin(), op.operands.end(), [&](Value value) {
      return kernel_.type(value).space == Space::Shared;
    });
    const LibraryFunction* function = called_function(op);
    has_readers_ |= function && (function->kind == LibraryKind::StartProduct ||
                                 function->kind == LibraryKind::StoreBox);
    if (!function)
      return op.facts().is(Family::Sync) || (op.kind != OpKind::ArrayView && has_shared);
    const std::span<const LibraryEffect> effects = effects_of(*function);
    const bool is_whole = std::any_of(effects.begin(), effects.end(), [](const auto& effect) {
      return effect.operand < 0;  // a meeting, or something of products
    });
    return has_shared || is_whole || function->kind == LibraryKind::WaitBoxes;
  }

  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (op->facts().is(Family::Control)) {
        if (touching_.contains(op)) control(*op);
      } else if (op->kind == OpKind::Barrier) meet(*op);
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
    std::erase_if(state_.pending,
                  [](const Access& access) { return access.is_of_warps && !access.is_under_way; });
    std::erase_if(state_.shown, [](const Access& access) { return access.is_of_warps; });
  }
  void commit() {
    for (Access& access : state_.pending) ++access.commits;
  }
  // What is done is there for the thread alone until all meet, and not shown to products before.
  void wait(std::int64_t pending) {
    const Accesses before = std::exchange(state_.pending, {});
    for (Access access : before) {
      if (access.commits > pending && access.is_under_way) {
        access.end();
        if (has_readers_) add(state_.unshown, access);
      }
      add(state_.pending, access);
    }
  }

  // The first operand of what writes an array is that array.
  void access(const Op& op) {
    if (op.kind == OpKind::ArrayView) return;
    const bool reads_first = op.kind == OpKind::Read;
    for (std::size_t k = 0; k < op.operands.size(); ++k)
      if (kernel_.type(op.operands[k]).space == Space::Shared)
        note(op, op.operands[k], k == 0 && !reads_first);
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
    return a.place.array == b.place.array && a.map && b.map && maps_.is_same_thread(*a.map, *b.map);
  }

  void call(const Op& op) {
    const LibraryFunction* function = called_function(op);
    if (function == nullptr) return;
    if (function->kind == LibraryKind::StartProduct) return start_product(op);
    if (function->kind == LibraryKind::CommitProducts) return commit_products();
    if (function->kind == LibraryKind::WaitProducts) return wait_products(op);
    if (function->kind == LibraryKind::StoreBox) return start_reading(op, 0, state_.storing);
    if (function->kind == LibraryKind::WaitBoxes) return wait_stores(op);
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
        note(op, operand, effect.kind != LibraryEffect::Kind::Read,
             effect.kind == LibraryEffect::Kind::Add);
    }
  }

  // What was written and shown is behind a barrier; what was not shown is rule F6.
  void start_product(const Op& op) {
    for (const std::size_t k : {1, 2}) {
      if (kernel_.type(op.operands[k]).is_array()) continue;
      start_reading(op, k, state_.reading);
    }
  }
  void start_reading(const Op& op, std::size_t operand, Accesses& reading) {
    const Access access = read_access(op, operand);
    for (const Access& before : state_.pending)
      if (before.is_under_way && before.overlaps(access)) report({&op, before.op, false, true});
    for (const Access& before : state_.shown)
      if (before.overlaps(access))
        report({&op, before.op, before.is_of_warps && access.is_of_warps});
    for (const Access& before : state_.unshown)
      if (before.overlaps(access)) not_shown_.push_back({&op, before.op});
    add(reading, access);
  }

  void commit_products() {
    for (Access& access : state_.reading) ++access.commits;
  }
  // Who writes next where products have read that are done must come after all of those that wait.
  void wait_products(const Op& op) {
    const std::int64_t pending = op.integers("numbers")[0];
    const Accesses before = std::exchange(state_.reading, {});
    for (Access access : before) {
      if (access.commits <= pending) {
        state_.reading.push_back(access);
        continue;
      }
      access.op = &op;
      access.end();
      add(state_.pending, access);
    }
  }

  // The same for the thread that has started them.
  void wait_stores(const Op& op) {
    for (Access access : std::exchange(state_.storing, {})) {
      access.op = &op;
      access.end();
      add(state_.pending, access);
    }
  }

  void control(const Op& op) {
    if (op.kind == OpKind::If) return branch(op);
    if (only_adds(op)) return walk_over_elements(op);
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

  // Whether a round of a loop over elements only adds accesses, and nothing goes to the next one.
  bool only_adds(const Op& op) {
    if (op.kind != OpKind::For || op.text("over") == "rounds") return false;
    const auto [known, is_new] = only_adds_.emplace(&op, false);
    if (is_new) known->second = op.regions[0].arguments.size() == 1 && only_add(op.regions[0]);
    return known->second;
  }
  bool only_add(const Region& region) {
    return std::all_of(region.ops.begin(), region.ops.end(), [&](const Op* op) {
      if (op->kind == OpKind::If) return only_add(op->regions[0]) && only_add(op->regions[1]);
      if (op->facts().is(Family::Control)) return only_adds(*op);
      if (op->kind == OpKind::CommitCopies || op->kind == OpKind::WaitCopies) return false;
      const LibraryFunction* function = called_function(*op);
      return !meets(*op) && (!function || only_accesses(*function));
    });
  }

  // The second round sees all accesses of the first. Loops inside go round with it: each would walk
  // twice in each round of those around it otherwise, and products have five of them.
  void walk_over_elements(const Op& op) {
    const bool is_inside = std::exchange(is_over_elements_, true);
    walk(op.regions[0]);
    if (!is_inside) walk(op.regions[0]);
    is_over_elements_ = is_inside;
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
    forget_rounds_of(op);
    walk(op.regions[1]);
    merge(after);
  }

  // Where a loop stands in a branch that asks whether it has rounds, those on the other side have
  // started no copies for it.
  void forget_rounds_of(const Op& branch) {
    for (const Op* op : branch.regions[0].ops) {
      if (op->kind != OpKind::For || !asks_for_rounds(kernel_, *op, branch.operands[0])) continue;
      std::erase_if(state_.pending,
                    [&](const Access& access) { return rounds_for(*op, access) > 0; });
    }
  }

  // ---- Rounds: where a copy is started for a later one, the loop does not end before that.
  void enter(const Op& loop) {
    for (Accesses* part : {&state_.unshown, &state_.shown, &state_.reading, &state_.storing})
      for (const Access& access : std::exchange(*part, {})) {
        Access inside = access;
        inside.place.slots = slots_.entered(loop, access.place.slots);
        add(*part, inside);
      }
    const Accesses before = std::exchange(state_.pending, {});
    for (Access access : before) {
      access.place.slots = slots_.entered(loop, access.place.slots);
      if (const std::int64_t rounds = rounds_for(loop, access); rounds > 1 && !access.loop) {
        access.loop = &loop;
        access.rounds = rounds - 1;
      }
      add(state_.pending, access);
    }
  }

  // That a loop surely has, by what held when a copy was started.
  std::int64_t rounds_for(const Op& loop, const Access& access) const {
    constexpr std::int64_t most = 64;  // more are not counted
    if (!access.is_under_way || loop.text("over") != "rounds") return 0;
    std::int64_t rounds = rounds_to_come(kernel_, loop, {});
    if (access.when)
      for (const Value condition : *access.when)
        rounds = std::max(rounds, rounds_to_come(kernel_, loop, condition));
    return std::min(rounds, most);
  }

  // Conditions of another round say nothing of this one.
  State gone_round(const Op& loop, State state) const {
    for (Accesses* part : {&state.unshown, &state.shown, &state.reading, &state.storing})
      for (Access& access : *part) access.place.slots = slots_.gone_round(loop, access.place.slots);
    const bool is_round = loop.kind != OpKind::For || loop.text("over") == "rounds";
    for (Access& access : state.pending) {
      if (is_round) access.when = nullptr;
      access.place.slots = slots_.gone_round(loop, access.place.slots);
      if (access.loop == &loop && --access.rounds == 0) access.loop = nullptr;
    }
    return state;
  }

  State left(const Op& loop, State state) const {
    std::erase_if(state.pending, [&](const Access& access) { return access.loop == &loop; });
    for (Accesses* part :
         {&state.pending, &state.unshown, &state.shown, &state.reading, &state.storing})
      for (Access& access : *part) access.place.slots = slots_.left(loop, access.place.slots);
    return state;
  }

  // These return whether something is new.
  static bool add(Accesses& to, const Access& access) {
    const auto known =
        std::find_if(to.begin(), to.end(), [&](const Access& one) { return one.is_of(access); });
    if (known == to.end()) {
      to.push_back(access);
      return true;
    }
    if (!access.is_under_way || access.commits >= known->commits) return false;
    known->commits = access.commits;
    return true;
  }
  static bool merge(Accesses& to, const Accesses& others) {
    bool is_new = false;
    for (const Access& access : others) is_new |= add(to, access);
    return is_new;
  }
  bool merge(const State& other) {
    const bool is_new[] = {merge(state_.pending, other.pending),
                           merge(state_.unshown, other.unshown), merge(state_.shown, other.shown),
                           merge(state_.reading, other.reading),
                           merge(state_.storing, other.storing)};
    return std::any_of(std::begin(is_new), std::end(is_new), [](bool one) { return one; });
  }

  Access make_access(const Op& op, Value array, bool writes) const {
    Access access{.op = &op, .place = shared_place(kernel_, slots_, array), .writes = writes};
    access.is_of_warps = access.place.array && access.place.array->integer("warps") != 0;
    return access;
  }
  const Access& access_of(const Op& op, Value array, bool writes, bool adds) {
    const auto [found, is_new] = known_.try_emplace({&op, array.id, writes, adds});
    KnownAccess& known = found->second;
    if (!is_new) return known.access;
    known.access = make_access(op, array, writes);
    known.access.adds = adds;
    if (op.kind != OpKind::Call) known.map = map_of(op, array);
    if (known.map) {
      known.map->without = without_;
      if (op.kind == OpKind::Write && op.operands.size() > 3)
        known.map->without |= maps_.zero_bits(op.operands[3]);
      known.access.map = &*known.map;
    }
    if (op.kind == OpKind::CopyTo) note_copy(known);
    return known.access;
  }
  const Access& read_access(const Op& op, std::size_t operand) {
    const auto [found, is_new] = known_.try_emplace({&op, op.operands[operand].id, false, false});
    Access& access = found->second.access;
    if (is_new) {
      access = make_access(op, op.operands[operand], false);
      access.is_under_way = true;
    }
    return access;
  }

  void note(const Op& op, Value array, bool writes, bool adds = false) {
    const Access access = access_of(op, array, writes, adds);
    for (const Access& before : state_.pending) {
      const bool both_add = before.adds && adds;
      if (!before.overlaps(access) || both_add || !(before.writes || writes)) continue;
      // The copies of one sweep go to different places.
      if (before.is_under_way && before.is_of(access)) continue;
      if (before.is_under_way) report({&op, before.op, false, true});
      else if (!is_same_thread(before, access))
        report({&op, before.op, before.is_of_warps && access.is_of_warps});
    }
    if (writes)
      for (const Access& before : state_.storing)
        if (before.overlaps(access)) report({&op, before.op, false, true});
    if (writes && !adds && !access.is_under_way && has_readers_) add(state_.unshown, access);
    add(state_.pending, access);
  }

  void note_copy(KnownAccess& known) const {
    Access& access = known.access;
    known.when = holding_;
    if (access.op->operands.size() > 3) known.when.push_back(access.op->operands[3]);
    access.is_under_way = true;
    if (!known.when.empty()) access.when = &known.when;
    if (loop_ == nullptr) return;
    for (const Value condition : known.when)
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
  std::unordered_set<const Op*> touching_;  // control flow with accesses to shared memory in it
  bool has_readers_ = false;                // products, or stores by tensor maps
  std::map<std::tuple<const Op*, std::uint32_t, bool, bool>, KnownAccess> known_;
  const Op* loop_ = nullptr;    // of rounds, the innermost
  std::vector<Value> holding_;  // conditions of the branches around
  State state_;
  std::uint64_t without_ = 0;  // bits of the thread's number that are 0 in the branch
  bool is_over_elements_ = false;
  std::unordered_map<const Op*, bool> only_adds_;
  std::vector<Unordered> found_, not_shown_;
};

}  // namespace

std::vector<Unordered> find_unordered(const Kernel& kernel) {
  return SharedWalk(kernel).run().unordered;
}

std::function<SharedFindings()> shared_finder(const Kernel& kernel) {
  return [walk = std::make_shared<SharedWalk>(kernel)] { return walk->run(); };
}

std::vector<Unordered> find_unshown(const Kernel& kernel) {
  SharedWalk walk(kernel);
  return walk.has_readers() ? walk.run().unshown : std::vector<Unordered>();
}

}  // namespace tilewright::ir
