// SPDX-License-Identifier: Apache-2.0
// codegen/schedule/op_facts.cpp — tables and walks over single ops.
#include "codegen/schedule/op_facts.h"

#include <algorithm>

namespace tilewright {

using ir::OpKind;

Access through(Access outer, Access inner) { return std::max(outer, inner); }

bool is_tile(const ir::Kernel& kernel, ir::Value value) { return kernel.type(value).is_tile(); }

bool is_view(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::Constant:
    case OpKind::Arange:
    case OpKind::Splat:
    case OpKind::Broadcast:
    case OpKind::Reshape:
    case OpKind::Permute:
    case OpKind::Join:
    case OpKind::Split:
    case OpKind::Hint:
    case OpKind::Affine:
    case OpKind::Bounds:
      return true;
    default:
      return false;
  }
}

bool is_uniform(const ir::Op& op) {
  return op.kind == OpKind::Constant || op.kind == OpKind::Splat;
}

Access access_of_view(const ir::Kernel& kernel, const ir::Op& op) {
  switch (op.kind) {
    case OpKind::Hint:
      return Access::Same;
    case OpKind::Broadcast:
      return kernel.type(op.operands[0]) == kernel.type(op.result()) ? Access::Same
                                                                     : Access::Repeated;
    case OpKind::Join:
      return Access::Repeated;  // both sides are computed for every element
    default:
      return Access::Once;
  }
}

Effects effects_of(const ir::Op& op) {
  Effects effects;
  const ir::OpFacts& facts = op.facts();
  effects.reads = facts.has(ir::Reads);
  effects.writes = facts.has(ir::Writes) || (facts.has(ir::Effect) && op.regions.empty());
  if (op.kind == OpKind::Load && op.integer("volatile") != 0) effects.writes = true;
  for (const ir::Region& region : op.regions)
    for (const ir::Op* inner : region.ops) {
      const Effects more = effects_of(*inner);
      effects.reads |= more.reads;
      effects.writes |= more.writes;
    }
  return effects;
}

int cost_of(const ir::Op& op) {
  constexpr int never = 1000;
  switch (op.kind) {
    case OpKind::Divide:
    case OpKind::Remainder:
    case OpKind::MultiplyHigh:
      return 4;
    case OpKind::InlineAsm:
    case OpKind::Math:
      return 10;
    case OpKind::Load:
      return 2;
    default:
      return op.facts().has(ir::Elementwise) && op.facts().has(ir::Pure) ? 1 : never;
  }
}

bool has_dot(const ir::Kernel& kernel) {
  bool found = false;
  ir::walk(kernel.body, [&](const ir::Op& op) { found |= op.kind == OpKind::Dot; });
  return found;
}

}  // namespace tilewright
