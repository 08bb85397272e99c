// SPDX-License-Identifier: Apache-2.0
// passes/negate_differences.cpp — see negate_differences.h.
#include "passes/negate_differences.h"

#include <vector>

#include "ir/analysis/zero_signs.h"

namespace tilewright {

void negate_differences(ir::Kernel& kernel, const Target&) {
  std::vector<ir::Op*> differences;
  ir::walk(kernel.body, [&](ir::Op& op) {
    if (ir::is_zero_minus(kernel, op)) differences.push_back(&op);
  });
  if (differences.empty()) return;
  const ir::ZeroSigns zeros(kernel);
  for (ir::Op* op : differences) {
    if (zeros.is_seen(op->result()) && zeros.may_be_positive(op->operands[1])) continue;
    op->kind = ir::OpKind::Negate;
    op->operands.erase(op->operands.begin());
    op->attributes.clear();
  }
}

}  // namespace tilewright
