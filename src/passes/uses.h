// SPDX-License-Identifier: Apache-2.0
// passes/uses.h — who reads a value.
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

}  // namespace tilewright
