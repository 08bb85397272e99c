// SPDX-License-Identifier: Apache-2.0
// graph/lower/outside.cpp — numbers behind the end of rows, from step to step.
#include "graph/lower/outside.h"

#include <cmath>

namespace tilewright::graph {
namespace {

std::optional<double> neutral_of(Op op) {
  switch (op) {
    case Op::Sum:
      return 0;
    case Op::Product:
      return 1;
    case Op::Max:
    case Op::MaxNumber:
      return -INFINITY;
    case Op::Min:
      return INFINITY;
    default:  // places are compared with places
      return std::nullopt;
  }
}

const Step* step_of(const Formula& formula, int value) {
  if (value < formula.first_step()) return nullptr;
  return &formula.steps[static_cast<std::size_t>(value - formula.first_step())];
}

// Through conversions, which keep 0 and infinities.
int origin_of(const Formula& formula, int value) {
  const Step* step = step_of(formula, value);
  while (step != nullptr && step->op == Op::Cast && is_floating(step->dtype) &&
         is_floating(step->operand_dtype)) {
    value = step->operands[0];
    step = step_of(formula, value);
  }
  return value;
}

// The largest of a row that has `value` in it: no element is above it.
bool is_largest_of(const Formula& formula, int candidate, int value) {
  const Step* const step = step_of(formula, origin_of(formula, candidate));
  return step != nullptr && (step->op == Op::Max || step->op == Op::MaxNumber) &&
         origin_of(formula, step->operands[0]) == origin_of(formula, value);
}

class Propagation {
 public:
  Propagation(const Formula& formula, const std::vector<bool>& is_masked) : formula_(formula) {
    out_.values.resize(static_cast<std::size_t>(formula.first_step()) + formula.steps.size());
    for (std::size_t leaf = 0; leaf < formula.leaves.size(); ++leaf)
      if (is_floating(formula.leaves[leaf].dtype) && is_masked[leaf])
        out_.values[leaf] = wanted_of(static_cast<int>(leaf));
    for (std::size_t i = 0; i < formula.steps.size(); ++i)
      out_.values[static_cast<std::size_t>(formula.first_step()) + i] = of(formula.steps[i]);
  }

  Outside take() { return std::move(out_); }

 private:
  // The extreme that is taken of it, else 0, which sums want.
  double wanted_of(int leaf) const {
    for (const Step& step : formula_.steps)
      if (facts_of(step.op).op_class == OpClass::Reduce &&
          origin_of(formula_, step.operands[0]) == leaf)
        if (const std::optional<double> neutral = neutral_of(step.op)) return *neutral;
    return 0;
  }

  std::optional<double> at(const Step& step, std::size_t operand) const {
    return out_.values[static_cast<std::size_t>(step.operands[operand])];
  }

  std::optional<double> of(const Step& step) const {
    if (!is_floating(step.dtype) || !is_floating(step.operand_dtype)) return std::nullopt;
    switch (step.op) {
      case Op::Cast:
        return at(step, 0);
      case Op::Square:
      case Op::Absolute:
      case Op::Negate:
      case Op::Relu:
        return at(step, 0) == 0.0 ? at(step, 0) : std::nullopt;
      case Op::Add:
      case Op::Multiply:
        return at(step, 0) == 0.0 && at(step, 1) == 0.0 ? at(step, 0) : std::nullopt;
      case Op::Subtract:
        // -inf less the largest of the row; where that is infinite too, elements of the row itself
        // give NaN.
        return at(step, 0) == -INFINITY &&
                       is_largest_of(formula_, step.operands[1], step.operands[0])
                   ? at(step, 0)
                   : std::nullopt;
      case Op::Exp:
        return at(step, 0) == -INFINITY ? std::optional(0.0) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  const Formula& formula_;
  Outside out_;
};

}  // namespace

bool Outside::is_neutral(const Formula& formula, const Step& reduction) const {
  if (!is_floating(reduction.operand_dtype) || !is_floating(formula.dtype(reduction.operands[0])))
    return false;
  const std::optional<double> value = values[static_cast<std::size_t>(reduction.operands[0])];
  return value && value == neutral_of(reduction.op);
}

Outside values_outside(const Formula& formula, const std::vector<bool>& is_masked) {
  return Propagation(formula, is_masked).take();
}

}  // namespace tilewright::graph
