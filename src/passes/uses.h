// SPDX-License-Identifier: Apache-2.0
// passes/uses.h — who reads a value, and who reads another one instead.
#pragma once

#include <algorithm>

#include "ir/kernel.h"

namespace tilewright {

// How often ops of the region have it as an operand.
inline int uses_in(const ir::Region& region, ir::Value value) {
  int count = 0;
  ir::walk(region, [&](const ir::Op& op) {
    count += static_cast<int>(std::count(op.operands.begin(), op.operands.end(), value));
  });
  return count;
}

// Whether the op, or one inside of it, does.
inline bool reads_value(const ir::Op& op, ir::Value value) {
  return std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end() ||
         std::any_of(op.regions.begin(), op.regions.end(),
                     [&](const ir::Region& region) { return uses_in(region, value) != 0; });
}

// Whoever reads one value reads another one: the op and those inside of it, or all of the region.
inline void replace_uses(ir::Region& region, ir::Value value, ir::Value by) {
  ir::walk(region,
           [&](ir::Op& op) { std::replace(op.operands.begin(), op.operands.end(), value, by); });
}
inline void replace_uses(ir::Op& op, ir::Value value, ir::Value by) {
  std::replace(op.operands.begin(), op.operands.end(), value, by);
  for (ir::Region& region : op.regions) replace_uses(region, value, by);
}

}  // namespace tilewright
