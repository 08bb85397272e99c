// SPDX-License-Identifier: Apache-2.0
// passes/laid/spins.cpp — a loop whose body is empty and whose condition is pure but for one
// exchange.
#include "passes/laid/spins.h"

namespace tilewright {

using ir::OpKind;

bool is_exchange(const ir::Op& op) {
  return op.kind == OpKind::AtomicCas ||
         (op.kind == OpKind::AtomicRmw && op.text("op") == "xchg" && op.operands.size() == 2);
}

bool is_spin(const Step& step) {
  const ir::Op& op = *step.op;
  if (!op.operands.empty() || !op.results.empty() || op.regions[1].ops.size() != 1) return false;
  int exchanges = 0;
  for (const Step& inner : step.regions[0]) {
    if (inner.kind != Step::Kind::Scalar) return false;
    if (is_exchange(*inner.op)) ++exchanges;
    else if (!inner.op->facts().has(ir::Pure)) return false;
  }
  return exchanges == 1;
}

}  // namespace tilewright
