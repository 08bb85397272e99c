// SPDX-License-Identifier: Apache-2.0
// passes/count_ops.h — how many ops of a kind a kernel has.
#pragma once

#include "ir/kernel.h"

namespace tilewright {

inline int count(const ir::Kernel& kernel, ir::OpKind kind) {
  int found = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) { found += op.kind == kind; });
  return found;
}

}  // namespace tilewright
