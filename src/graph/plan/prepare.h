// SPDX-License-Identifier: Apache-2.0
// graph/plan/prepare.h — compiles the kernels of a plan before its first run, several at a time.
#pragma once

#include <span>

#include "graph/plan/plan.h"

namespace tilewright::graph {

// Does nothing where fewer than two kernels are missing. What a compiler says of one is thrown by
// the run that needs it.
void prepare_plan(const Plan& plan, std::span<const Tensor> inputs);

// Memory for what the step reads and does not get from the caller, with nothing in it.
struct PlanRun;
void add_scratch(PlanRun& run, const PlannedStep& step);

}  // namespace tilewright::graph
