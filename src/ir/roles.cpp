// SPDX-License-Identifier: Apache-2.0
// ir/roles.cpp — the ops that roles and persistent blocks have.
#include "ir/roles.h"

namespace tilewright::ir {
namespace {

const Op* first_of(const Kernel& kernel, OpKind kind) {
  const Op* found = nullptr;
  walk(kernel.body, [&](const Op& op) {
    if (op.kind == kind && found == nullptr) found = &op;
  });
  return found;
}

}  // namespace

const Op* producer_of(const Kernel& kernel) { return first_of(kernel, OpKind::IsProducer); }

bool is_persistent(const Kernel& kernel) { return first_of(kernel, OpKind::NumBlocks) != nullptr; }

bool is_over_programs(const Kernel& kernel, const Op& loop) {
  const Op* step = loop.kind == OpKind::For ? kernel.maker(loop.operands[2]) : nullptr;
  return step != nullptr && step->kind == OpKind::NumBlocks;
}

}  // namespace tilewright::ir
