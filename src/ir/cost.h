// SPDX-License-Identifier: Apache-2.0
// ir/cost.h — how much work a kernel is: floating-point operations, bytes read, bytes written.
//
// Counted from the ops, not measured: every mask is taken to hold, every load and store goes to
// memory once each time it runs (elements that an access form repeats count once), an arithmetic op
// or a math function on floats is one operation, `fma` two, a matrix product 2 m n k. Loops
// multiply by their trip count: a number, or an expression over integer arguments and the grid. Of
// the branches of an `if` the dearer counts. What the launch does not tell (a `while`, a bound from
// memory) counts as one round, a bound that differs between programs as that of the middle one;
// `is_exact` is then false.
#pragma once

#include "ir/kernel.h"
#include "tilewright/kernel_source.h"

namespace tilewright::ir {

struct KernelCost {
  PlanExpression flops;
  PlanExpression bytes_read;
  PlanExpression bytes_written;
  bool is_exact = true;
};

KernelCost cost_of_program(const Kernel& kernel);
// The programs of the whole grid together.
KernelCost cost_of_launch(const Kernel& kernel);

}  // namespace tilewright::ir
