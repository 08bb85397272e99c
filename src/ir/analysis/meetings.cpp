// SPDX-License-Identifier: Apache-2.0
// ir/analysis/meetings.cpp — accesses to shared memory between meetings.
#include "ir/analysis/meetings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/analysis/bit_maps.h"
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
  bool is_of_warps = false;        // each warp has a part of the array

  bool overlaps(const Access& other) const { return first < other.end && other.first < end; }
  bool is_of(const Access& other) const {
    return op == other.op && array == other.array && writes == other.writes;
  }
};
using Accesses = std::vector<Access>;

class SharedWalk {
 public:
  explicit SharedWalk(const Kernel& kernel) : kernel_(kernel), maps_(kernel) {}

  std::vector<Unordered> run() {
    walk(kernel_.body);
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

    std::size_t size() const {
      return pending.size() + unshown.size() + shown.size() + reading.size();
    }
  };

  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (op->facts().is(Family::Control)) control(*op);
      else if (op->kind == OpKind::Barrier) meet(*op);
      else if (op->kind == OpKind::Call) call(*op);
      else if (op->facts().is(Family::Final)) access(*op);
    }
  }

  void meet(const Op& barrier) {
    if (barrier.text("of") == "warp")
      return static_cast<void>(std::erase_if(
          state_.pending, [](const Access& access) { return access.is_of_warps; }));
    state_.pending.clear();
    state_.shown.clear();
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
    const auto is_array = [&](Value value) {
      const Op* made = kernel_.maker(value);
      return made && made->kind == OpKind::Array;
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
          effect.kind == LibraryEffect::Kind::Cluster) {
        state_.pending.clear();
        state_.shown.clear();
      }
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
    const State before = state_;
    if (op.kind == OpKind::If) {
      const std::uint64_t without = std::exchange(without_, without_ | maps_.zero_bits(op.operands[0]));
      walk(op.regions[0]);
      without_ = without;
      const State after = std::exchange(state_, before);
      walk(op.regions[1]);
      return merge(after);
    }
    // Once more while a round leaves something that was not pending at the begin of it. A `while`
    // ends behind its first region, a `for` before its body too.
    while (true) {
      const State at_begin = state_;
      walk(op.regions[0]);
      const State at_decision = state_;
      if (op.regions.size() > 1) walk(op.regions[1]);
      const State at_end = std::exchange(state_, at_begin);
      merge(at_end);
      if (state_.size() > at_begin.size()) continue;
      if (op.regions.size() > 1) state_ = at_decision;
      return;
    }
  }

  static void merge(Accesses& to, const Accesses& others) {
    for (const Access& access : others)
      if (std::none_of(to.begin(), to.end(),
                       [&](const Access& known) { return known.is_of(access); }))
        to.push_back(access);
  }
  void merge(const State& other) {
    merge(state_.pending, other.pending);
    merge(state_.unshown, other.unshown);
    merge(state_.shown, other.shown);
    merge(state_.reading, other.reading);
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
    for (const Access& before : state_.pending) {
      const bool both_add = before.adds && adds;
      if (before.overlaps(access) && !both_add && (before.writes || writes) &&
          !is_same_thread(before, access))
        report({&op, before.op, before.is_of_warps && access.is_of_warps});
    }
    if (writes && !adds) merge(state_.unshown, {access});
    merge(state_.pending, {access});
  }

  void report(const Unordered& pair) {
    const auto is_known = [&](const Unordered& other) {
      return other.op == pair.op && other.before == pair.before;
    };
    if (std::none_of(found_.begin(), found_.end(), is_known)) found_.push_back(pair);
  }

  const Kernel& kernel_;
  const BitMaps maps_;
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
