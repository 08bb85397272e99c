// SPDX-License-Identifier: Apache-2.0
// passes/spread_hints.cpp — one walk in order: what follows a statement is all that it dominates.
#include "passes/spread_hints.h"

#include <algorithm>
#include <vector>

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

class Spreader {
 public:
  explicit Spreader(ir::Kernel& kernel) : kernel_(kernel), is_used_(kernel.value_count(), false) {
    ir::walk(kernel.body, [&](const Op& op) {
      for (const Value operand : op.operands) is_used_[operand.id] = true;
    });
  }

  void run(Region& region) {
    for (std::size_t i = 0; i < region.ops.size(); ++i) {
      const Op& op = *region.ops[i];
      if (op.kind == OpKind::Hint && !is_used_[op.result().id])
        for (std::size_t k = i + 1; k < region.ops.size(); ++k)
          replace(*region.ops[k], values_of(op), op.result());
      for (Region& inner : region.ops[i]->regions) run(inner);
    }
  }

 private:
  // What the promise is of, and what was promised of it on the way.
  std::vector<Value> values_of(const Op& hint) const {
    std::vector<Value> values = {hint.operands[0]};
    for (const Op* op = kernel_.maker(values[0]); op && op->kind == OpKind::Hint;
         op = kernel_.maker(values.back()))
      values.push_back(op->operands[0]);
    return values;
  }

  // Values that a loop hands on as they are stay so: that they are the same is worth more.
  void replace(Op& op, const std::vector<Value>& from, Value to) {
    if (!op.facts().is(ir::Family::Ends))
      for (Value& operand : op.operands)
        if (std::find(from.begin(), from.end(), operand) != from.end()) operand = to;
    for (Region& inner : op.regions)
      for (Op* inside : inner.ops) replace(*inside, from, to);
  }

  ir::Kernel& kernel_;
  std::vector<bool> is_used_;
};

}  // namespace

void spread_hints(ir::Kernel& kernel, const Target&) {
  if (kernel.stage == ir::Stage::Source) Spreader(kernel).run(kernel.body);
}

}  // namespace tilewright
