// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_control.cpp — for, while and if: scalars are carried, tiles live in arrays
// that are copied where a loop or a branch does not share them.
#include <algorithm>
#include <span>

#include "base/check.h"
#include "codegen/lower/program_lowering.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// At the end of a region every array of it is there.
const Step end_of_region{.kind = Step::Kind::Control, .order = 1 << 30};

// Whether a value that is written where it is used reads one of the variables.
bool is_made_of(const ir::Kernel& kernel, ir::Value value, std::span<const ir::Value> variables) {
  const ir::Op* maker = kernel.maker(value);
  if (std::find(variables.begin(), variables.end(), value) != variables.end()) return true;
  if (!maker || maker->facts().has(ir::Nested) || !kernel.name_of(value).empty()) return false;
  return std::any_of(maker->operands.begin(), maker->operands.end(), [&](ir::Value operand) {
    return is_made_of(kernel, operand, variables);
  });
}

}  // namespace

void ProgramLowering::control(const Step& step) {
  switch (ir::control_op(step.op->kind)) {
    case ir::ControlOp::For:
      return for_loop(step);
    case ir::ControlOp::While:
      return while_loop(step);
    case ir::ControlOp::If:
      return branch(step);
    case ir::ControlOp::Sweep:
      break;
  }
  TW_UNREACHABLE("'{}' is lowered as the loop that it holds", step.op->facts().name);
}

// Region arguments for the scalars of `to`, and copies to its tiles; returns the initial scalars.
std::vector<ir::Value> ProgramLowering::carry(const Step& step, const std::vector<ir::Value>& to,
                                           const std::vector<ir::Value>& from) {
  std::vector<std::pair<ir::Value, ir::Value>> copies;
  std::vector<ir::Value> initial;
  for (std::size_t k = 0; k < to.size(); ++k) {
    const Type& type = laid_.type(to[k]);
    if (type.is_scalar()) {
      const std::string name = names_.make(laid_.name_of(to[k]), "carried");
      if (!from.empty()) initial.push_back(scalar(from[k]));
      scalars_[to[k].id] = out_.make_value(type, name, nullptr);
    } else if (!from.empty()) {
      const bool is_shared =
          sweeps_.is_placed(from[k]) && sweeps_.storage(from[k]) == sweeps_.storage(to[k]);
      if (!is_shared) copies.emplace_back(to[k], from[k]);
    }
  }
  copy(step, copies);
  return initial;
}

// What a region hands on: tiles are copied, scalars given back.
std::vector<ir::Value> ProgramLowering::carry_on(const std::vector<ir::Value>& to,
                                              const std::vector<ir::Value>& from) {
  std::vector<std::pair<ir::Value, ir::Value>> copies;
  std::vector<ir::Value> values;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (laid_.type(to[k]).is_scalar()) {
      values.push_back(scalar(from[k]));
      continue;
    }
    const bool is_shared =
        sweeps_.is_placed(from[k]) && sweeps_.storage(from[k]) == sweeps_.storage(to[k]);
    if (!is_shared) copies.emplace_back(to[k], from[k]);
  }
  copy(end_of_region, copies);
  return values;
}

void ProgramLowering::for_loop(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Region& body = op.regions[0];
  rounds(step, carry(step, {body.arguments.begin() + 1, body.arguments.end()},
                     {op.operands.begin() + 3, op.operands.end()}));
}

void ProgramLowering::rounds(const Step& step, const std::vector<ir::Value>& initial) {
  const ir::Op& op = *step.op;
  const ir::Region& body = op.regions[0];
  const std::vector<ir::Value> carried(body.arguments.begin() + 1, body.arguments.end());
  const ir::Value index = body.arguments[0];
  scalars_[index.id] =
      out_.make_value(laid_.type(index), names_.make(laid_.name_of(index), "index"), nullptr);
  const std::vector<Carried> more = begin_rounds(step);
  std::vector<ir::Value> operands, variables;
  for (std::size_t k = 0; k < 3; ++k) operands.push_back(scalar(op.operands[k]));
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Type> types;
  for (const ir::Value value : carried)
    if (laid_.type(value).is_scalar()) {
      variables.push_back(scalar(value));
      types.push_back(laid_.type(value));
    }
  for (const Carried& one : more) {
    operands.push_back(one.initial);
    variables.push_back(one.variable);
    types.push_back(out_.type(one.variable));
  }
  ir::Op* loop = out_.make_op(OpKind::For, operands, types, op.location);
  loop->set("over", std::string("rounds"));
  loop->regions.resize(1);
  loop->regions[0].arguments = {scalar(index)};
  loop->regions[0].arguments.insert(loop->regions[0].arguments.end(), variables.begin(),
                                    variables.end());
  mark_loop(*loop, op);
  insert(loop, *list_);
  region(loop->regions[0], [&] {
    round(step);
    std::vector<ir::Value> next = carry_on(carried, body.ops.back()->operands);
    const std::vector<ir::Value> others = end_rounds(step);
    next.insert(next.end(), others.begin(), others.end());
    // A variable that another one becomes, or is computed from, is read before it changes.
    for (std::size_t k = 0; k < next.size(); ++k)
      if (next[k] != variables[k] &&
          (std::find(variables.begin(), variables.end(), next[k]) != variables.end() ||
           is_made_of(out_, next[k], {variables.begin(), k})))
        next[k] = named(next[k], names_.make(out_.name_of(next[k]), "next"), *list_);
    statement(OpKind::Yield, next, *list_);
  });
  std::size_t number = 0;
  for (const ir::Value result : op.results)
    if (laid_.type(result).is_scalar()) scalars_[result.id] = loop->results[number++];
}

void ProgramLowering::while_loop(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Op& decision = *op.regions[0].ops.back();
  const std::vector<ir::Value>&before = op.regions[0].arguments, &inside = op.regions[1].arguments;
  const std::vector<ir::Value> initial = carry(step, before, op.operands);
  carry(step, inside, {});
  const bool waits = asks_others(op);
  ir::Value rounds;
  if (waits)
    rounds = named(make(OpKind::Array, {number(0, DType::UInt32)},
                        Type::array(Type::scalar(DType::UInt32), ir::Space::Registers),
                        {{"count", std::int64_t{1}}}),
                   names_.make("rounds"), *list_);
  std::vector<Type> types;
  for (const ir::Value value : initial) types.push_back(type_of(value));
  ir::Op* loop = out_.make_op(OpKind::While, initial, types, op.location);
  loop->regions.resize(2);
  for (const ir::Value value : before)
    if (laid_.type(value).is_scalar()) loop->regions[0].arguments.push_back(scalar(value));
  for (const ir::Value value : inside)
    if (laid_.type(value).is_scalar()) loop->regions[1].arguments.push_back(scalar(value));
  insert(loop, *list_);
  region(loop->regions[0], [&] {
    steps(step.regions[0]);
    const ir::Value goes_on = scalar(decision.operands[0]);
    std::vector<ir::Value> values =
        carry_on(inside, {decision.operands.begin() + 1, decision.operands.end()});
    values.insert(values.begin(), goes_on);
    statement(OpKind::Condition, values, *list_);
  });
  region(loop->regions[1], [&] {
    steps(step.regions[1]);
    const std::vector<ir::Value> next = carry_on(before, op.regions[1].ops.back()->operands);
    // Another program may have to run before this one can go on.
    if (waits)
      statement(OpKind::Call, {rounds}, *list_,
                {{"function", std::string(name_of(LibraryKind::WaitAMoment))}});
    statement(OpKind::Yield, next, *list_);
  });
  std::size_t number_of_result = 0;
  for (const ir::Value result : op.results)
    if (laid_.type(result).is_scalar()) scalars_[result.id] = loop->results[number_of_result++];
}

void ProgramLowering::branch(const Step& step) {
  const ir::Op& op = *step.op;
  std::vector<std::string> names;
  std::vector<Type> types;
  for (const ir::Value result : op.results) {
    if (!laid_.type(result).is_scalar()) continue;
    names.push_back(names_.make(laid_.name_of(result), "carried"));
    types.push_back(laid_.type(result));
  }
  ir::Op* chosen = out_.make_op(OpKind::If, {scalar(op.operands[0])}, types, op.location);
  chosen->regions.resize(2);
  for (std::size_t k = 0; k < names.size(); ++k) out_.set_name(chosen->results[k], names[k]);
  insert(chosen, *list_);
  for (const std::size_t side : {0, 1})
    region(chosen->regions[side], [&] {
      begin_branch(step, side);
      steps(step.regions[side]);
      statement(OpKind::Yield, carry_on(op.results, op.regions[side].ops.back()->operands), *list_);
      end_branch(step, side);
    });
  std::size_t number_of_result = 0;
  for (const ir::Value result : op.results)
    if (laid_.type(result).is_scalar()) scalars_[result.id] = chosen->results[number_of_result++];
}

}  // namespace tilewright
