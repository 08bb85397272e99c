// SPDX-License-Identifier: Apache-2.0
// codegen/lower/run_facts.cpp — tiles of indices that addresses are computed from: such a row is
// often a run of consecutive numbers (an index that may wrap, or was loaded).
#include "codegen/lower/nest_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

bool is_index_type(const Type& type) {
  return !type.is_pointer && (type.dtype == DType::Int32 || type.dtype == DType::Int64);
}

bool hands_elements_on(const ir::Op& op) {
  return op.facts().maps(ir::Same | ir::Repeated | ir::Reshaped);
}

void NestFacts::find_runs(ir::Value value) {
  const Type& type = kernel_.type(value);
  const ir::Op* op = kernel_.maker(value);
  if (!op || type.is_scalar() || type.size(type.rank - 1) == 1) return;
  if (schedule_.is_placed(value)) {
    constexpr std::int64_t shortest = 8;
    const bool is_row = type.numel() == type.size(type.rank - 1) && type.numel() >= shortest;
    const ir::Value result = schedule_.result_of(value);
    if (is_row && is_index_type(type) && schedule_.storage(value) == result)
      may_be_runs_.insert(result.id);
    return;
  }
  const bool is_sum = op->kind == OpKind::Offset || op->kind == OpKind::Add;
  if (!is_sum && op->kind != OpKind::Cast && !hands_elements_on(*op)) return;
  for (const ir::Value operand : op->operands) find_runs(operand);
}

void NestFacts::find_runs() {
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if ((op.kind == OpKind::Load || op.kind == OpKind::Store) &&
        kernel_.type(op.operands[0]).is_tile())
      find_runs(op.operands[0]);
  });
}

}  // namespace tilewright
