// SPDX-License-Identifier: Apache-2.0
// codegen/lower/waiting.cpp — loops that wait for another program.
#include "codegen/lower/waiting.h"

#include <algorithm>

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
  const ir::Op* maker = kernel.maker(value);
  if (!defines(loop, value)) return false;
  if (!maker || !maker->facts().has(ir::Pure) || !kernel.type(value).is_tile()) return true;
  return std::any_of(maker->operands.begin(), maker->operands.end(),
                     [&](ir::Value operand) { return changes_in(kernel, loop, operand); });
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
