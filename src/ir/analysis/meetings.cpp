// SPDX-License-Identifier: Apache-2.0
// ir/analysis/meetings.cpp — accesses to shared memory between meetings.
#include "ir/analysis/meetings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/analysis/bit_maps.h"
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

 private:
  void walk(const Region& region) {
    for (const Op* op : region.ops) {
      if (op->facts().is(Family::Control)) control(*op);
      else if (op->kind == OpKind::Barrier) pending_.clear();
      else if (op->kind == OpKind::Call) call(*op);
      else if (op->facts().is(Family::Final)) access(*op);
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
    const LibraryFunction* function = find_library_function(op.text("function"));
    if (function == nullptr) return;
    const std::size_t each =
        function->operands.empty() ? 0 : op.operands.size() / function->operands.size();
    for (const LibraryEffect& effect : effects_of(*function)) {
      if (effect.kind == LibraryEffect::Kind::Barrier ||
          effect.kind == LibraryEffect::Kind::Cluster)
        pending_.clear();
      if (effect.operand < 0) continue;
      // The first of a group stands for all of it.
      const Value operand = op.operands[static_cast<std::size_t>(effect.operand) * each];
      if (kernel_.type(operand).space == Space::Shared)
        note(op, operand, effect.kind != LibraryEffect::Kind::Read, {},
             effect.kind == LibraryEffect::Kind::Add);
    }
  }

  void control(const Op& op) {
    const Accesses before = pending_;
    if (op.kind == OpKind::If) {
      const std::uint64_t without = std::exchange(without_, without_ | maps_.zero_bits(op.operands[0]));
      walk(op.regions[0]);
      without_ = without;
      const Accesses after = std::exchange(pending_, before);
      walk(op.regions[1]);
      return merge(after);
    }
    // Once more while a round leaves something that was not pending at the begin of it. A `while`
    // ends behind its first region, a `for` before its body too.
    while (true) {
      const Accesses at_begin = pending_;
      walk(op.regions[0]);
      const Accesses at_decision = pending_;
      if (op.regions.size() > 1) walk(op.regions[1]);
      const Accesses at_end = std::exchange(pending_, at_begin);
      merge(at_end);
      if (pending_.size() > at_begin.size()) continue;
      if (op.regions.size() > 1) pending_ = at_decision;
      return;
    }
  }

  void merge(const Accesses& others) {
    for (const Access& access : others)
      if (std::none_of(pending_.begin(), pending_.end(),
                       [&](const Access& known) { return known.is_of(access); }))
        pending_.push_back(access);
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
    for (const Access& before : pending_) {
      const bool meet = before.first < access.end && access.first < before.end;
      const bool both_add = before.adds && adds;
      if (meet && !both_add && (before.writes || writes) && !is_same_thread(before, access))
        report({&op, before.op});
    }
    merge({access});
  }

  void report(const Unordered& pair) {
    const auto is_known = [&](const Unordered& other) {
      return other.op == pair.op && other.before == pair.before;
    };
    if (std::none_of(found_.begin(), found_.end(), is_known)) found_.push_back(pair);
  }

  const Kernel& kernel_;
  const BitMaps maps_;
  Accesses pending_;
  std::uint64_t without_ = 0;  // bits of the thread's number that are 0 in the branch
  std::vector<Unordered> found_;
};

}  // namespace

std::vector<Unordered> find_unordered(const Kernel& kernel) {
  return SharedWalk(kernel).run();
}

}  // namespace tilewright::ir
