// SPDX-License-Identifier: Apache-2.0
// passes/laid/alignment.cpp — forward through the kernel; loops until nothing changes.
#include "passes/laid/alignment.h"

#include <algorithm>

namespace tilewright {
namespace {

using ir::OpKind;

constexpr std::int64_t most = std::int64_t{1} << 30;

// The largest power of two that divides the number.
std::int64_t power_in(std::int64_t number) {
  return number == 0 ? most : std::min(number & -number, most);
}

}  // namespace

Alignments::Alignments(const ir::Kernel& kernel)
    : kernel_(kernel), axes_(kernel), known_(kernel.value_count(), 1) {
  for (const ir::KernelArgument& argument : kernel.arguments) {
    const ir::Type& type = kernel.type(argument.value);
    known_[argument.value.id] = power_in(std::max(argument.divisible, 1));
    // An element is always aligned to itself.
    if (type.is_pointer)
      known_[argument.value.id] =
          std::max(known_[argument.value.id], static_cast<std::int64_t>(size_of(type.dtype)));
  }
  visit(kernel.body);
}

bool Alignments::lower(ir::Value value, std::int64_t to) {
  if (known_[value.id] <= to) return false;
  known_[value.id] = to;
  return true;
}

void Alignments::visit(const ir::Region& region) {
  for (const ir::Op* op : region.ops) visit(*op);
}

void Alignments::visit(const ir::Op& op) {
  if (op.facts().has(ir::Loops)) return visit_loop(op);
  for (const ir::Region& region : op.regions) visit(region);
  if (op.kind == OpKind::If) {
    for (std::size_t k = 0; k < op.results.size(); ++k)
      known_[op.results[k].id] = std::min(known_[op.regions[0].ops.back()->operands[k].id],
                                          known_[op.regions[1].ops.back()->operands[k].id]);
    return;
  }
  if (op.results.size() == 1 && kernel_.type(op.result()).is_scalar())
    known_[op.result().id] = result_of(op);
}

// Starts from the initial values and lowers what the body yields, until the body agrees.
void Alignments::visit_loop(const ir::Op& op) {
  const bool is_for = op.kind == OpKind::For;
  const std::size_t inputs = is_for ? 3 : 0;
  const std::size_t first = is_for ? 1 : 0;
  const ir::Region& body = op.regions.back();
  const ir::Region& head = op.regions.front();
  if (is_for)
    known_[body.arguments[0].id] = std::min(known_[op.operands[0].id], known_[op.operands[2].id]);
  for (std::size_t k = 0; k + inputs < op.operands.size(); ++k)
    known_[head.arguments[first + k].id] = known_[op.operands[inputs + k].id];
  for (bool changed = true; changed;) {
    changed = false;
    if (!is_for) {
      visit(head);
      for (std::size_t k = 0; k < body.arguments.size(); ++k)
        known_[body.arguments[k].id] = known_[head.ops.back()->operands[k + 1].id];
    }
    visit(body);
    const ir::Op& end = *body.ops.back();
    for (std::size_t k = 0; k < end.operands.size(); ++k)
      changed |= lower(head.arguments[first + k], known_[end.operands[k].id]);
  }
  for (std::size_t k = 0; k < op.results.size(); ++k)
    known_[op.results[k].id] = known_[body.arguments[(is_for ? 1 : 0) + k].id];
}

std::int64_t Alignments::result_of(const ir::Op& op) const {
  if (op.facts().is(ir::Family::Elementwise)) return result_of_arithmetic(op);
  if (op.kind == OpKind::Constant) {
    const auto* number = std::get_if<std::int64_t>(op.find("value"));
    return number ? power_in(*number) : 1;
  }
  if (op.kind != OpKind::Hint) return 1;
  const std::vector<std::int64_t> divisible = op.integers("divisible");
  return std::max(known_[op.operands[0].id], divisible.empty() ? 1 : power_in(divisible.front()));
}

std::int64_t Alignments::result_of_arithmetic(const ir::Op& op) const {
  const auto of_operand = [&](std::size_t i) { return known_[op.operands[i].id]; };
  switch (ir::elementwise_op(op.kind)) {
    case ir::ElementwiseOp::Add:
    case ir::ElementwiseOp::Subtract:
    case ir::ElementwiseOp::Minimum:
    case ir::ElementwiseOp::Maximum:
      return std::min(of_operand(0), of_operand(1));
    case ir::ElementwiseOp::Select:
      return std::min(of_operand(1), of_operand(2));
    case ir::ElementwiseOp::Multiply:
      return std::min(of_operand(0) * of_operand(1), most);
    case ir::ElementwiseOp::And:
      return std::max(of_operand(0), of_operand(1));
    case ir::ElementwiseOp::Negate:
      return of_operand(0);
    case ir::ElementwiseOp::Cast:
    case ir::ElementwiseOp::Bitcast: {
      const ir::Type& from = kernel_.type(op.operands[0]);
      // Of a bool it is 0 or 1.
      return from.is_float() || kernel_.type(op.result()).is_bool() ? 1 : of_operand(0);
    }
    case ir::ElementwiseOp::Offset: {
      const auto size = static_cast<std::int64_t>(size_of(kernel_.type(op.result()).dtype));
      return std::min(of_operand(0), std::min(of_operand(1) * size, most));
    }
    case ir::ElementwiseOp::MultiplyHigh:
    case ir::ElementwiseOp::Divide:
    case ir::ElementwiseOp::Remainder:
    case ir::ElementwiseOp::Or:
    case ir::ElementwiseOp::Xor:
    case ir::ElementwiseOp::ShiftLeft:
    case ir::ElementwiseOp::ShiftRight:
    case ir::ElementwiseOp::Absolute:
    case ir::ElementwiseOp::Fma:
    case ir::ElementwiseOp::Compare:
    case ir::ElementwiseOp::InlineAsm:
    case ir::ElementwiseOp::Math:
      break;  // nothing is known
  }
  return 1;
}

}  // namespace tilewright
