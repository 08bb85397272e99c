// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_scalars.cpp — scalars of a range of programs.
#include "codegen/lower/loop_scalars.h"

#include "base/check.h"
#include "codegen/lower/loop_lowering.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

void LoopScalars::scalar_op(const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  // One thread runs a program, so nothing waits; constants are written where they are used.
  if (op.kind == OpKind::Constant || op.kind == OpKind::Assume || facts.is(ir::Family::Sync))
    return;
  if (facts.has(ir::Reads) || facts.has(ir::Writes)) return scalar_memory(op);
  if (op.kind == OpKind::Print)
    return families().across.print({.kind = Step::Kind::Across, .op = &op});
  std::vector<ir::Value> operands;
  for (const ir::Value operand : op.operands) operands.push_back(scalar(operand));
  if (facts.is(ir::Family::Check)) {
    statement(op.kind, operands, *list_, op.attributes, op.location);
    return;
  }
  const Type& type = kernel_.type(op.result());
  if (facts.maps(ir::Spread | ir::Repeated | ir::Reshaped | ir::Permuted))
    return define(op.result(), make(OpKind::Hint, operands, type, {}, op.location));
  TW_CHECK(facts.has(ir::Elementwise) || facts.is(ir::Family::Source), "'{}' is no op on scalars",
           facts.name);
  std::vector<ir::Attribute> attributes = op.attributes;
  std::erase_if(attributes, [](const ir::Attribute& attribute) {
    return attribute.name == "argument_from" || attribute.name == "argument_to";
  });
  const ir::Value made = make(op.kind, operands, type, attributes, op.location);
  // What takes long is computed once: not every loop is one that the compiler takes it out of.
  if (!is_costly(op) && is_inlined(op, made)) write_at_uses(op.result(), made);
  else define(op.result(), made);
}

// Of a tile of one pointer.
ir::Value LoopScalars::only_element(const ir::Op& view, ir::Value value) {
  const Step step{.kind = Step::Kind::Scalar, .order = 1 << 30, .op = &view};
  LoweredNest nest = make_nest(step, Type{});
  const ir::Value made = viewed(nest, view, value, {}).value;
  list_->insert(list_->end(), nest.lines[0].begin(), nest.lines[0].end());
  return made;
}

// The scalar forms are elements of a nest without loops.
void LoopScalars::scalar_memory(const ir::Op& op) {
  const Step step{.kind = Step::Kind::Scalar, .order = 1 << 30, .op = &op};
  LoweredNest nest = make_nest(step, Type{});
  const auto flush = [&] {
    list_->insert(list_->end(), nest.lines[0].begin(), nest.lines[0].end());
  };
  if (op.kind == OpKind::Load) {
    const PlacedValue value = loaded(nest, op, {});
    flush();
    return define(op.result(), value.value);
  }
  families().sweeps.effect(nest, op);
  flush();
  // The old value of an atomic, under the name that it got in the nest.
  if (op.results.empty()) return;
  names_ = nest.names;
  scalars_[op.result().id] = nest.known.at({op.result().id, ""}).value;
}

}  // namespace tilewright
