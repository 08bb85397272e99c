// SPDX-License-Identifier: Apache-2.0
// codegen/lower/waiting.cpp — loops that wait for another program.
#include "codegen/lower/waiting.h"

#include <algorithm>

#include "ir/behind.h"

namespace tilewright {

using ir::OpKind;

namespace {

bool defines(const ir::Op& op, ir::Value value) {
  const auto has = [&](const std::vector<ir::Value>& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return std::any_of(op.regions.begin(), op.regions.end(), [&](const ir::Region& region) {
    return has(region.arguments) ||
           std::any_of(region.ops.begin(), region.ops.end(), [&](const ir::Op* inner) {
             return has(inner->results) || defines(*inner, value);
           });
  });
}

// Whether a value may be another one in every round: what a sweep computes of values from outside
// the loop is not.
bool changes_in(const ir::Kernel& kernel, const ir::Op& loop, ir::Value value) {
  return ir::any_behind(kernel, value, [&](ir::Value behind) {
    if (!defines(loop, behind)) return ir::Ask::NoFurther;
    const ir::Op* maker = kernel.maker(behind);
    const bool is_sweeps = maker && maker->facts().has(ir::Pure) && kernel.type(behind).is_tile();
    return is_sweeps ? ir::Ask::Further : ir::Ask::Found;
  });
}

// A loop waits for another program when it looks at memory with an atomic or a volatile load, or
// at one place again and again.
bool looks_at_memory(const ir::Kernel& kernel, const ir::Op& loop, const ir::Op& op) {
  if (op.facts().is_atomic()) return true;
  if (op.kind == OpKind::Load)
    return op.integer("volatile") != 0 || !changes_in(kernel, loop, op.operands[0]);
  return std::any_of(op.regions.begin(), op.regions.end(), [&](const ir::Region& region) {
    return std::any_of(region.ops.begin(), region.ops.end(),
                       [&](const ir::Op* inner) { return looks_at_memory(kernel, loop, *inner); });
  });
}
}  // namespace

bool is_waiting(const ir::Kernel& kernel, const ir::Op& loop) {
  return looks_at_memory(kernel, loop, loop);
}

}  // namespace tilewright
