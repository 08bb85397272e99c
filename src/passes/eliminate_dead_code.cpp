// SPDX-License-Identifier: Apache-2.0
// passes/eliminate_dead_code.cpp — marks from the ops that must stay, then sweeps.
#include "passes/eliminate_dead_code.h"

#include <vector>

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

class Sweep {
 public:
  explicit Sweep(const Kernel& kernel) : is_used_(kernel.value_count(), false) {}

  // Backwards, so that a user is seen before its operands' makers. Values carried around a loop are
  // used by the loop itself: they are marked with it, which keeps one pass enough.
  void run(Region& region) {
    std::vector<Op*> kept;
    for (std::size_t i = region.ops.size(); i-- > 0;) {
      Op* op = region.ops[i];
      if (!must_stay(*op)) continue;
      for (std::size_t r = op->regions.size(); r-- > 0;) run(op->regions[r]);
      for (const Value operand : op->operands) is_used_[operand.id] = true;
      kept.push_back(op);
    }
    region.ops.assign(kept.rbegin(), kept.rend());
  }

 private:
  bool must_stay(const Op& op) const {
    for (const Value result : op.results)
      if (is_used_[result.id]) return true;
    return has_effect(op);
  }

  static bool has_effect(const Op& op) {
    switch (op.kind) {
      case OpKind::Load:
        return op.integer("volatile") != 0;
      case OpKind::For:
      case OpKind::While:
      case OpKind::If:
        return op.kind == OpKind::While || regions_have_effect(op);
      default:
        return op.facts().has(ir::Writes) || op.facts().has(ir::Effect) || op.facts().has(ir::Ends);
    }
  }

  static bool regions_have_effect(const Op& op) {
    for (const Region& region : op.regions)
      for (const Op* inner : region.ops)
        if (!inner->facts().has(ir::Ends) && has_effect(*inner)) return true;
    return false;
  }

  std::vector<bool> is_used_;
};

}  // namespace

void eliminate_dead_code(Kernel& kernel, const Target&) { Sweep(kernel).run(kernel.body); }

}  // namespace tilewright
