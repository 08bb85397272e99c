// SPDX-License-Identifier: Apache-2.0
// ir/analysis/zero_signs.cpp — which zeros go forward op by op, who sees their sign goes backward;
// both again until nothing changes, since loops hand on what they make.
#include "ir/analysis/zero_signs.h"

#include <algorithm>
#include <cmath>

#include "ir/constant.h"

namespace tilewright::ir {
namespace {

bool is_tracked(const Type& type) { return type.is_float() && !type.is_pointer; }

// Whether elements of the operands are the result's as they are.
bool hands_on(const Op& op) {
  if (op.facts().is(Family::View)) return true;
  if (!op.facts().is(Family::Across)) return false;
  switch (across_op(op.kind)) {
    case AcrossOp::Gather:
    case AcrossOp::Concatenate:
    case AcrossOp::Sort:
      return true;
    case AcrossOp::ReadBuffer:
    case AcrossOp::Scan:
    case AcrossOp::Dot:
    case AcrossOp::Histogram:
    case AcrossOp::Print:
    case AcrossOp::StoreMap:
      return false;
  }
  return false;
}

ZeroOfMath zero_of_math(const Op& op) {
  const MathFacts* function = math_function(op.text("function"));
  return function ? function->zero : ZeroOfMath::Shown;
}

}  // namespace

ZeroSigns::ZeroSigns(const Kernel& kernel)
    : kernel_(kernel), signs_(kernel.value_count()), seen_(kernel.value_count(), false) {
  for (const KernelArgument& argument : kernel.arguments) join(argument.value, {true, true});
  do {
    changed_ = false;
    find_signs(kernel.body);
  } while (changed_);
  do {
    changed_ = false;
    find_seen(kernel.body);
  } while (changed_);
}

void ZeroSigns::join(Value value, const Signs& signs) {
  Signs& now = signs_[value.id];
  const Signs both{now.positive || signs.positive, now.negative || signs.negative};
  changed_ |= !(both == now);
  now = both;
}

void ZeroSigns::see(Value value) {
  changed_ |= !seen_[value.id];
  seen_[value.id] = true;
}

// A value that becomes another one is seen as that is.
void ZeroSigns::hand_on(Value from, Value to) {
  if (seen_[to.id]) see(from);
}

bool is_zero_minus(const Kernel& kernel, const Op& op) {
  return op.kind == OpKind::Subtract && is_tracked(kernel.type(op.result())) &&
         is_zero(kernel, op.operands[0]);
}

// ---- Which zeros a value can be

void ZeroSigns::find_signs(const Region& region) {
  for (const Op* op : region.ops) {
    if (op->facts().is(Family::Control)) note_control(*op);
    const std::size_t count = op->results.size();
    for (std::size_t k = 0; op->facts().has(Combines) && k < op->operands.size(); ++k) {
      join(op->regions[0].arguments[k], of(op->operands[k]));
      join(op->regions[0].arguments[k + op->operands.size()], of(op->operands[k]));
    }
    for (const Region& inner : op->regions) find_signs(inner);
    for (std::size_t k = 0; op->facts().has(Combines) && k < count; ++k) {
      const Signs of_both = of(ends(op->regions[0])[k]);
      join(op->regions[0].arguments[k], of_both);
      join(op->regions[0].arguments[k + count], of_both);
      join(op->results[k], of(op->operands[k]));
      join(op->results[k], of_both);
    }
    if (op->facts().is(Family::Control) || op->facts().has(Combines)) continue;
    for (const Value result : op->results)
      if (is_tracked(kernel_.type(result))) join(result, of_result(*op));
  }
}

void ZeroSigns::note_control(const Op& op) {
  switch (control_op(op.kind)) {
    case ControlOp::For:
      for (std::size_t k = 0; k < op.results.size(); ++k)
        for (const Value from : {op.operands[k + 3], ends(op.regions[0])[k]}) {
          join(op.regions[0].arguments[k + 1], of(from));
          join(op.results[k], of(from));
        }
      return;
    case ControlOp::While:
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        join(op.regions[0].arguments[k], of(op.operands[k]));
        join(op.regions[0].arguments[k], of(ends(op.regions[1])[k]));
      }
      for (std::size_t k = 0; k < op.results.size(); ++k) {
        const Value from = ends(op.regions[0])[k + 1];
        join(op.regions[1].arguments[k], of(from));
        join(op.results[k], of(from));
      }
      return;
    case ControlOp::If:
      for (std::size_t k = 0; k < op.results.size(); ++k)
        for (const Region& region : op.regions) join(op.results[k], of(ends(region)[k]));
      return;
    case ControlOp::Sweep:
      return;
  }
}

// A number that gets fewer bits may become a zero of its sign.
ZeroSigns::Signs ZeroSigns::of_cast(const Op& op) const {
  const Type &from = kernel_.type(op.operands[0]), &to = kernel_.type(op.result());
  if (!from.is_float()) return {true, false};
  return to.element_bytes() > from.element_bytes() ? of(op.operands[0]) : Signs{true, true};
}

ZeroSigns::Signs ZeroSigns::of_elementwise(const Op& op) const {
  const auto sign = [&](std::size_t k) { return of(op.operands[k]); };
  switch (elementwise_op(op.kind)) {
    case ElementwiseOp::Add:
      return {true, sign(0).negative && sign(1).negative};
    case ElementwiseOp::Subtract:
      return {true, is_zero_minus(kernel_, op) || (sign(0).negative && sign(1).positive)};
    case ElementwiseOp::Multiply:  // a square has no sign
      return {true, op.operands[0] != op.operands[1]};
    case ElementwiseOp::Fma:
      return {true, sign(2).negative};
    case ElementwiseOp::Minimum:
    case ElementwiseOp::Maximum:
      return {sign(0).positive || sign(1).positive, sign(0).negative || sign(1).negative};
    case ElementwiseOp::Negate:
      return {sign(0).negative, sign(0).positive};
    case ElementwiseOp::Absolute:
      return {true, false};
    case ElementwiseOp::Select:
      return {sign(1).positive || sign(2).positive, sign(1).negative || sign(2).negative};
    case ElementwiseOp::Cast:
      return of_cast(op);
    case ElementwiseOp::Math:
      return {true, zero_of_math(op) != ZeroOfMath::Hidden};
    case ElementwiseOp::Divide:
    case ElementwiseOp::Remainder:
    case ElementwiseOp::Bitcast:
    case ElementwiseOp::InlineAsm:
      break;  // any float
    case ElementwiseOp::MultiplyHigh:
    case ElementwiseOp::And:
    case ElementwiseOp::Or:
    case ElementwiseOp::Xor:
    case ElementwiseOp::ShiftLeft:
    case ElementwiseOp::ShiftRight:
    case ElementwiseOp::Compare:
    case ElementwiseOp::Offset:
      break;  // no float
  }
  return {true, true};
}

ZeroSigns::Signs ZeroSigns::of_result(const Op& op) const {
  const OpFacts& facts = op.facts();
  if (facts.is(Family::Elementwise)) return of_elementwise(op);
  if (facts.maps(Alike)) {
    const auto* number = std::get_if<double>(op.find("value"));
    if (number == nullptr || *number != 0) return {};
    return {!std::signbit(*number), std::signbit(*number)};
  }
  if (op.kind == OpKind::Dot) return {true, of(op.operands[2]).negative};
  if (!hands_on(op)) return {true, true};
  Signs out;
  for (const Value operand : op.operands) {
    out.positive |= of(operand).positive;
    out.negative |= of(operand).negative;
  }
  return out;
}

// ---- Who sees the sign of a zero

void ZeroSigns::find_seen(const Region& region) {
  for (auto op = region.ops.rbegin(); op != region.ops.rend(); ++op) look(**op);
}

void ZeroSigns::look(const Op& op) {
  if (op.facts().is(Family::Control)) return look_control(op);
  if (op.facts().has(Combines)) {
    const std::size_t count = op.operands.size();
    const std::vector<Value>& arguments = op.regions[0].arguments;
    for (std::size_t k = 0; k < count; ++k)
      for (const Value to : {op.results[k], arguments[k], arguments[k + count]})
        for (const Value from : {op.operands[k], ends(op.regions[0])[k]}) hand_on(from, to);
    return find_seen(op.regions[0]);
  }
  if (op.facts().is(Family::Ends)) return;  // whose values their region's op knows
  for (std::size_t k = 0; k < op.operands.size(); ++k)
    if (is_tracked(kernel_.type(op.operands[k])) && sees(op, k)) see(op.operands[k]);
}

void ZeroSigns::look_control(const Op& op) {
  switch (control_op(op.kind)) {
    case ControlOp::For:
      for (std::size_t k = 0; k < op.results.size(); ++k)
        for (const Value from : {op.operands[k + 3], ends(op.regions[0])[k]}) {
          hand_on(from, op.results[k]);
          hand_on(from, op.regions[0].arguments[k + 1]);
        }
      break;
    case ControlOp::While:
      for (std::size_t k = 0; k < op.operands.size(); ++k)
        for (const Value from : {op.operands[k], ends(op.regions[1])[k]})
          hand_on(from, op.regions[0].arguments[k]);
      for (std::size_t k = 0; k < op.results.size(); ++k) {
        const Value from = ends(op.regions[0])[k + 1];
        hand_on(from, op.results[k]);
        hand_on(from, op.regions[1].arguments[k]);
      }
      break;
    case ControlOp::If:
      for (std::size_t k = 0; k < op.results.size(); ++k)
        for (const Region& region : op.regions) hand_on(ends(region)[k], op.results[k]);
      break;
    case ControlOp::Sweep:
      break;
  }
  for (const Region& region : op.regions) find_seen(region);
}

bool ZeroSigns::sees_elementwise(const Op& op, std::size_t operand) const {
  const auto other = [&](std::size_t k) { return of(op.operands[k]); };
  const bool result = is_seen(op.result());
  switch (elementwise_op(op.kind)) {
    case ElementwiseOp::Add:  // 0 + 0 and -0 + 0 are 0
      return result && other(1 - operand).negative;
    case ElementwiseOp::Subtract:  // 0 - -0 and -0 - -0 are 0, so are 0 - 0 and 0 - -0
      return result && (operand == 0 ? other(1).positive : other(0).negative);
    case ElementwiseOp::Fma:
      return result && (operand == 2 || other(2).negative);
    case ElementwiseOp::Multiply:
    case ElementwiseOp::Negate:
    case ElementwiseOp::Select:
    case ElementwiseOp::Minimum:
    case ElementwiseOp::Maximum:
      return result;
    case ElementwiseOp::Divide:  // the divisor's gives infinities their sign
    case ElementwiseOp::Remainder:
      return operand == 1 || result;
    case ElementwiseOp::Cast:
      return is_tracked(kernel_.type(op.result())) && result;
    case ElementwiseOp::Absolute:
    case ElementwiseOp::Compare:
      return false;
    case ElementwiseOp::Math: {
      const ZeroOfMath zero = zero_of_math(op);
      return zero == ZeroOfMath::Shown || (zero == ZeroOfMath::Kept && result);
    }
    case ElementwiseOp::Bitcast:
    case ElementwiseOp::InlineAsm:
    case ElementwiseOp::MultiplyHigh:
    case ElementwiseOp::And:
    case ElementwiseOp::Or:
    case ElementwiseOp::Xor:
    case ElementwiseOp::ShiftLeft:
    case ElementwiseOp::ShiftRight:
    case ElementwiseOp::Offset:
      return true;
  }
  return true;
}

// Of an op without regions.
bool ZeroSigns::sees(const Op& op, std::size_t operand) const {
  const OpFacts& facts = op.facts();
  if (facts.is(Family::Elementwise)) return sees_elementwise(op, operand);
  const bool result = std::any_of(op.results.begin(), op.results.end(),
                                  [&](Value value) { return is_seen(value); });
  if (op.kind == OpKind::Dot)  // a sum that begins as 0 is never -0
    return result && (operand == 2 || of(op.operands[2]).negative);
  return !hands_on(op) || result;
}

}  // namespace tilewright::ir
