// SPDX-License-Identifier: Apache-2.0
// passes/laid/op_facts.cpp — tables and walks over single ops.
#include "passes/laid/op_facts.h"

#include <algorithm>

namespace tilewright {

using ir::OpKind;

Access through(Access outer, Access inner) { return std::max(outer, inner); }

bool is_tile(const ir::Kernel& kernel, ir::Value value) { return kernel.type(value).is_tile(); }

bool is_view(const ir::Op& op) { return op.facts().map != ir::NoMap; }

bool is_uniform(const ir::Op& op) { return op.facts().maps(ir::Alike | ir::Spread); }

Access access_of_view(const ir::Kernel& kernel, const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  if (facts.maps(ir::Same)) return Access::Same;
  if (facts.maps(ir::Merged)) return Access::Repeated;  // both sides are computed for every element
  if (!facts.maps(ir::Repeated)) return Access::Once;
  return kernel.type(op.operands[0]) == kernel.type(op.result()) ? Access::Same : Access::Repeated;
}

Effects effects_of(const ir::Op& op) {
  Effects effects;
  const ir::OpFacts& facts = op.facts();
  effects.reads = facts.has(ir::Reads);
  effects.writes = facts.has(ir::Writes) || (facts.has(ir::Effect) && !facts.has(ir::Nested)) ||
                   op.integer("volatile") != 0;
  for (const ir::Region& region : op.regions)
    for (const ir::Op* inner : region.ops) {
      const Effects more = effects_of(*inner);
      effects.reads |= more.reads;
      effects.writes |= more.writes;
    }
  return effects;
}

bool adds_floats(const ir::Kernel& kernel, const ir::Op& op) {
  if (op.kind != OpKind::AtomicRmw || op.text("op") != "fadd") return false;
  const DType dtype = kernel.type(op.operands[1]).dtype;
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

bool has_dot(const ir::Kernel& kernel) {
  bool found = false;
  ir::walk(kernel.body, [&](const ir::Op& op) { found |= op.kind == OpKind::Dot; });
  return found;
}

std::int64_t largest_tile(const ir::Kernel& kernel) {
  std::int64_t largest = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.results)
      if (kernel.type(value).is_tile()) largest = std::max(largest, kernel.type(value).numel());
  });
  return largest;
}

}  // namespace tilewright
