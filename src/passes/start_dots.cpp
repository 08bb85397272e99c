// SPDX-License-Identifier: Apache-2.0
// passes/start_dots.cpp — which products wait for another one, and the rest to the front.
#include "passes/start_dots.h"

#include <algorithm>
#include <set>

#include "passes/choose_units.h"
#include "passes/edit_regions.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

class DotStarter {
 public:
  DotStarter(Kernel& kernel, Op& loop) : kernel_(kernel), loop_(loop), body_(loop.regions[0]) {
    for (const Op* op : body_.ops) inside_.insert(op);
  }

  void run() {
    if (!finds_dots()) return;
    const std::vector<Op*> first = first_dots();
    if (first.size() < 2 || !may_move(first)) return;
    move_to_front(first);
    for (Op* dot : dots_) dot->set("pending", static_cast<std::int64_t>(dots_.size()));
    const bool all_end = std::all_of(dots_.begin(), dots_.end(), [&](const Op* dot) {
      return only_adds_up(body_, *dot) || is_read_in_round(*dot);
    });
    const bool any_adds = std::any_of(dots_.begin(), dots_.end(),
                                      [&](const Op* dot) { return only_adds_up(body_, *dot); });
    if (all_end && any_adds) loop_.set("drains", std::int64_t{1});
  }

 private:
  // All products of the loop stand in its body, none goes on already, and nobody waits for a ring.
  bool finds_dots() {
    int all = 0;
    bool has_rings = false;
    ir::walk(body_, [&](const Op& op) {
      all += op.kind == OpKind::Dot;
      has_rings |= op.kind == OpKind::Await || op.kind == OpKind::Acquire;
    });
    for (Op* op : body_.ops)
      if (op->kind == OpKind::Dot && is_asynchronous(*op) && op->integer("pending", 0) == 0)
        dots_.push_back(op);
    return !has_rings && loop_.integer("drains", 0) == 0 && static_cast<int>(dots_.size()) == all;
  }

  // What a product needs of the round, itself included.
  std::set<const Op*> needs_of(const Op& dot) const {
    std::set<const Op*> needs;
    std::vector<const Op*> work = {&dot};
    while (!work.empty()) {
      const Op* op = work.back();
      work.pop_back();
      if (!needs.insert(op).second) continue;
      for (const Value operand : op->operands)
        if (const Op* maker = kernel_.maker(operand); maker && inside_.contains(maker))
          work.push_back(maker);
    }
    return needs;
  }

  // Those that wait for no other one.
  std::vector<Op*> first_dots() const {
    std::vector<Op*> out;
    for (Op* dot : dots_) {
      const std::set<const Op*> needs = needs_of(*dot);
      const auto waits = [&](const Op* other) { return other != dot && needs.contains(other); };
      if (std::none_of(dots_.begin(), dots_.end(), waits) && !only_adds_up(body_, *dot))
        out.push_back(dot);
    }
    return out;
  }

  // What stands before the last of them is passed by: it must not write memory.
  bool may_move(const std::vector<Op*>& first) const {
    for (const Op* op : body_.ops) {
      const ir::OpFacts& facts = op->facts();
      if (facts.has(ir::Writes) || facts.has(ir::Effect) || facts.has(ir::Nested)) return false;
      if (op == first.back()) return true;
    }
    return false;
  }

  void move_to_front(const std::vector<Op*>& first) {
    std::set<const Op*> moved;
    for (const Op* dot : first) moved.merge(needs_of(*dot));
    std::stable_partition(body_.ops.begin(), body_.ops.end(),
                          [&](const Op* op) { return moved.contains(op); });
  }

  bool is_read_in_round(const Op& dot) const {
    return std::any_of(body_.ops.begin(), body_.ops.end() - 1,
                       [&](const Op* op) { return reads_value(*op, dot.result()); });
  }

  Kernel& kernel_;
  Op& loop_;
  Region& body_;
  std::set<const Op*> inside_;
  std::vector<Op*> dots_;
};

}  // namespace

bool only_adds_up(const Region& body, const Op& dot) {
  const std::vector<Value>& carried = body.arguments;
  const std::vector<Value>& yielded = body.ops.back()->operands;
  const auto found = std::find(carried.begin() + 1, carried.end(), dot.operands[2]);
  if (found == carried.end()) return false;
  const auto number = static_cast<std::size_t>(found - carried.begin()) - 1;
  return number < yielded.size() && yielded[number] == dot.result() &&
         uses_in(body, dot.operands[2]) == 1 && uses_in(body, dot.result()) == 1;
}

bool have_slots(const Kernel& kernel, const Region& body, const std::vector<Op*>& loads) {
  const auto is_there = [&](Value value, bool is_left) {
    const Op* maker = kernel.maker(value);
    while (maker && (maker->kind == OpKind::Permute || maker->kind == OpKind::Reshape))
      maker = kernel.maker(maker->operands[0]);
    if (!stands_in(body, maker)) return true;
    if (maker->kind != OpKind::Load) return is_left;
    return std::find(loads.begin(), loads.end(), maker) != loads.end();
  };
  return std::all_of(body.ops.begin(), body.ops.end(), [&](const Op* op) {
    return op->kind != OpKind::Dot || !only_adds_up(body, *op) ||
           (is_there(op->operands[0], true) && is_there(op->operands[1], false));
  });
}

std::size_t ops_of_first_products(const Kernel& kernel, const Region& body) {
  std::size_t count = 0;
  std::set<const Op*> dots;
  for (std::size_t i = 0; i < body.ops.size(); ++i) {
    const Op& op = *body.ops[i];
    if (op.kind != OpKind::Dot) continue;
    const bool waits = std::any_of(op.operands.begin(), op.operands.end(), [&](Value value) {
      const Op* maker = kernel.maker(value);
      return maker && dots.contains(maker);
    });
    if (op.integer("pending", 0) == 0 || waits || only_adds_up(body, op)) break;
    dots.insert(&op);
    count = i + 1;
  }
  return dots.size() < 2 ? 0 : count;
}

void start_dots(Kernel& kernel, const Target&) {
  if (kernel.stage != ir::Stage::Tile) return;
  std::vector<Op*> loops;
  ir::walk(kernel.body, [&](Op& op) {
    if (op.kind == OpKind::For) loops.push_back(&op);
  });
  for (Op* loop : loops) DotStarter(kernel, *loop).run();
}

}  // namespace tilewright
