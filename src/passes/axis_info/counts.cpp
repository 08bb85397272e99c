// SPDX-License-Identifier: Apache-2.0
// passes/axis_info/counts.cpp — counts by what makes them.
#include "passes/axis_info/counts.h"

#include <algorithm>

#include "ir/analysis/exact_integers.h"
#include "ir/constant.h"

namespace tilewright {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Value;

bool is_count(const Kernel& kernel, Value value) {
  const Op* op = kernel.maker(value);
  const ir::Type& type = kernel.type(value);
  if (!op)
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [&](const auto& argument) {
      return argument.value == value && argument.is_positive;
    });
  if (op->kind == OpKind::Constant) return ir::integer_constant(kernel, value).value_or(0) > 0;
  if (op->kind == OpKind::NumPrograms || op->kind == OpKind::NumBlocks) return true;
  const auto is_operand = [&](std::size_t i) { return is_count(kernel, op->operands[i]); };
  if (op->facts().maps(ir::Spread | ir::Repeated | ir::Reshaped | ir::Permuted))
    return is_operand(0);
  if (op->kind == OpKind::Cast)
    return ir::is_exact_cast(kernel.type(op->operands[0]), type) && is_operand(0);
  if (op->kind == OpKind::Minimum) return is_operand(0) && is_operand(1);
  if (op->kind == OpKind::Maximum) return is_operand(0) || is_operand(1);
  return op->kind == OpKind::Multiply && ir::has_exact_sums(type) && is_operand(0) && is_operand(1);
}

bool keeps_sign(const Kernel& kernel, const Op& divide) {
  return divide.number("divisor_from", 0) > 0 || !is_signed(kernel.type(divide.result()).dtype) ||
         is_count(kernel, divide.operands[1]);
}

}  // namespace tilewright
