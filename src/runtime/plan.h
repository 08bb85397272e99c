// SPDX-License-Identifier: Apache-2.0
// runtime/plan.h — evaluates the integer expressions of launch plans.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tilewright/kernel_source.h"

namespace tilewright {

// What an expression may refer to; points into the launch.
struct PlanInputs {
  const std::string& kernel;  // for messages
  std::span<const Parameter> parameters;
  const std::uint64_t* values;  // per parameter: the scalar's bits, or the address
  const std::int64_t* grid;     // the user's own
  const std::int64_t* block;
  std::int64_t shared_bytes = 0;
  std::int64_t processors = 1;
};

// The value; allocates nothing. Throws ArgumentError for a division by zero or a result beyond 64
// bits, which only arguments or sizes that make no sense lead to. The expression has passed
// check_expression.
std::int64_t evaluate(const PlanExpression& expression, const PlanInputs& inputs);

// The same, or `otherwise` for an empty expression. Most are empty or one number.
inline std::int64_t evaluate_or(const PlanExpression& expression, const PlanInputs& inputs,
                                std::int64_t otherwise) {
  if (expression.empty()) return otherwise;
  if (expression.size() == 1 && expression[0].kind == PlanOp::Kind::Constant)
    return expression[0].value;
  return evaluate(expression, inputs);
}

// The same expression for a device with that many processors, constants combined.
PlanExpression simplified(const PlanExpression& expression, std::int64_t processors);

// An InternalError when an expression that is not empty does not leave exactly one value, needs too
// deep a stack, or refers to what is not there.
void check_expression(const PlanExpression& expression, const std::string& kernel,
                      std::span<const Parameter> parameters);

// The value of an integer or bool scalar from its bits.
std::int64_t integer_of_bits(DType dtype, std::uint64_t bits);

}  // namespace tilewright
