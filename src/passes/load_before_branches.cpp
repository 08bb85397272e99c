// SPDX-License-Identifier: Apache-2.0
// passes/load_before_branches.cpp — branches on what was loaded inside a lock, and the loads of
// them.
#include "passes/load_before_branches.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "ir/behind.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

bool is_atomic(const Op& op) { return op.facts().is_atomic(); }

// Waits for another program.
bool is_spin(const Op& op) {
  return op.kind == OpKind::While && std::any_of(op.regions[0].ops.begin(), op.regions[0].ops.end(),
                                                 [](const Op* inner) { return is_atomic(*inner); });
}

class Mover {
 public:
  explicit Mover(const Kernel& kernel) : kernel_(kernel) {}

  void run(Region& region) {
    for (Op* op : region.ops)
      for (Region& inner : op->regions) run(inner);
    std::vector<Op*> out;
    std::set<const Op*> loaded;  // scalars, since the last lock
    bool is_locked = false;
    for (std::size_t i = 0; i < region.ops.size(); ++i) {
      Op* op = region.ops[i];
      if (is_spin(*op)) is_locked = true, loaded.clear();
      if (is_locked && op->kind == OpKind::Load) loaded.insert(op);
      if (op->kind == OpKind::If && depends_on(op->operands[0], loaded))
        for (Region& branch : op->regions) take_loads(branch, stores_after(region, i), out);
      out.push_back(op);
    }
    region.ops = std::move(out);
  }

 private:
  bool depends_on(Value value, const std::set<const Op*>& loaded) const {
    return ir::any_behind(kernel_, value, [&](Value behind) {
      const Op* maker = kernel_.maker(behind);
      if (maker && loaded.contains(maker)) return ir::Ask::Found;
      const bool is_pure = maker && maker->kind != OpKind::Load && maker->facts().has(ir::Pure);
      return is_pure ? ir::Ask::Further : ir::Ask::NoFurther;
    });
  }

  // Those that surely follow.
  static std::vector<const Op*> stores_after(const Region& region, std::size_t branch) {
    std::vector<const Op*> out;
    for (std::size_t i = branch + 1; i < region.ops.size(); ++i) {
      const Op* op = region.ops[i];
      if (op->kind == OpKind::Store) out.push_back(op);
      else if (!op->facts().has(ir::Pure) && op->kind != OpKind::Load) break;
    }
    return out;
  }

  // Whether a store writes all that a load reads.
  static bool writes_all(const Op& store, const Op& load) {
    const bool has_mask = store.operands.size() > 2;
    const bool is_inside =
        !has_mask || (load.operands.size() > 1 && load.operands[1] == store.operands[2]);
    return load.operands[0] == store.operands[0] && is_inside;
  }

  // Loads that nothing is written before, of what one of the stores writes. What they read and
  // where is known before the branch.
  static void take_loads(Region& branch, const std::vector<const Op*>& stores,
                         std::vector<Op*>& out) {
    std::vector<Op*> staying;
    std::set<std::uint32_t> made;  // by the ops that stay
    bool is_first = true;
    for (Op* op : branch.ops) {
      const bool is_known = std::none_of(op->operands.begin(), op->operands.end(),
                                         [&](Value operand) { return made.contains(operand.id); });
      const bool is_plain =
          op->kind == OpKind::Load && op->operands.size() <= 2 && op->integer("volatile") == 0;
      const bool moves = is_first && is_plain && is_known &&
                         std::any_of(stores.begin(), stores.end(),
                                     [&](const Op* store) { return writes_all(*store, *op); });
      (moves ? out : staying).push_back(op);
      if (!moves)
        for (const Value result : op->results) made.insert(result.id);
      is_first &= op->facts().has(ir::Pure) || op->kind == OpKind::Load;
    }
    branch.ops = std::move(staying);
  }

  const Kernel& kernel_;
};

}  // namespace

void load_before_branches(Kernel& kernel, const Target&) { Mover(kernel).run(kernel.body); }

}  // namespace tilewright
