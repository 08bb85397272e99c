// SPDX-License-Identifier: Apache-2.0
// passes/eliminate_dead_code.cpp — marks from the ops that must stay, then sweeps.
#include "passes/eliminate_dead_code.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

bool has_effect(const Op& op);

bool regions_have_effect(const Op& op) {
  for (const Region& region : op.regions)
    for (const Op* inner : region.ops)
      if (!inner->facts().is(ir::Family::Ends) && has_effect(*inner)) return true;
  return false;
}

bool has_effect(const Op& op) {
  const ir::OpFacts& facts = op.facts();
  if (facts.has(ir::Writes) || facts.has(ir::Effect) || op.integer("volatile") != 0) return true;
  return facts.has(ir::Nested) && regions_have_effect(op);
}

// Values of which position k goes together: a result of `if` and what each side yields for it; a
// result of `for`, its carried argument, its first value and what the body yields.
constexpr std::size_t bounds_of_for = 3;

class Sweep {
 public:
  explicit Sweep(Kernel& kernel) : kernel_(kernel), is_used_(kernel.value_count(), false) {}

  void run() {
    find_carried(kernel_.body);
    ir::walk(kernel_.body, [&](const Op& op) {
      if (!op.facts().is(ir::Family::Ends) && has_effect(op)) keep(op);
    });
    while (!work_.empty()) {
      const Value value = work_.back();
      work_.pop_back();
      follow(value);
    }
    sweep(kernel_.body);
  }

 private:
  struct Carried {
    const Op* loop;
    std::size_t position;
  };

  void find_carried(const Region& region) {
    ir::walk(region, [&](const Op& op) {
      if (op.kind != OpKind::For) return;
      for (std::size_t k = 0; k < op.results.size(); ++k)
        carried_[op.regions[0].arguments[k + 1].id] = {&op, k};
    });
  }

  void use(Value value) {
    if (is_used_[value.id]) return;
    is_used_[value.id] = true;
    work_.push_back(value);
  }

  void follow(Value value) {
    if (const auto found = carried_.find(value.id); found != carried_.end())
      return use_carried(*found->second.loop, found->second.position);
    const Op* maker = kernel_.maker(value);
    if (maker == nullptr) return;
    keep(*maker);
    for (std::size_t k = 0; k < maker->results.size(); ++k) {
      if (maker->results[k] != value) continue;
      if (maker->kind == OpKind::For) use_carried(*maker, k);
      if (maker->kind == OpKind::If)
        for (const Region& region : maker->regions) use(region.ops.back()->operands[k]);
    }
  }

  void use_carried(const Op& loop, std::size_t k) {
    keep(loop);
    use(loop.operands[bounds_of_for + k]);
    use(loop.regions[0].ops.back()->operands[k]);
  }

  // The op itself, whichever of its results are used.
  void keep(const Op& op) {
    if (!kept_.insert(&op).second) return;
    if (op.kind == OpKind::If) return use(op.operands[0]);
    if (op.kind == OpKind::For) {
      for (std::size_t i = 0; i < bounds_of_for; ++i) use(op.operands[i]);
      return;
    }
    for (const Value operand : op.operands) use(operand);
    for (const Region& region : op.regions)
      for (const Value operand : region.ops.back()->operands) use(operand);
  }

  void sweep(Region& region) {
    std::erase_if(region.ops, [&](const Op* op) {
      return !op->facts().is(ir::Family::Ends) && !kept_.contains(op);
    });
    for (Op* op : region.ops) {
      if (op->kind == OpKind::For || op->kind == OpKind::If) drop_unused(*op);
      for (Region& inner : op->regions) sweep(inner);
    }
  }

  void drop_unused(Op& op) {
    const bool is_loop = op.kind == OpKind::For;
    for (std::size_t k = op.results.size(); k-- > 0;) {
      const bool is_read = is_loop && is_used_[op.regions[0].arguments[k + 1].id];
      if (is_used_[op.results[k].id] || is_read) continue;
      const auto at = static_cast<std::ptrdiff_t>(k);
      op.results.erase(op.results.begin() + at);
      for (const Region& region : op.regions) {
        std::vector<Value>& yielded = region.ops.back()->operands;
        yielded.erase(yielded.begin() + at);
      }
      if (!is_loop) continue;
      op.operands.erase(op.operands.begin() + static_cast<std::ptrdiff_t>(bounds_of_for) + at);
      op.regions[0].arguments.erase(op.regions[0].arguments.begin() + 1 + at);
    }
  }

  Kernel& kernel_;
  std::vector<bool> is_used_;
  std::vector<Value> work_;
  std::unordered_set<const Op*> kept_;
  std::unordered_map<std::uint32_t, Carried> carried_;  // by the carried argument
};

}  // namespace

void eliminate_dead_code(Kernel& kernel, const Target&) { Sweep(kernel).run(); }

}  // namespace tilewright
