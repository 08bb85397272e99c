// SPDX-License-Identifier: Apache-2.0
// graph/plan/run.h — the steps of a plan, one by one.
#pragma once

#include <span>
#include <vector>

#include "graph/plan/plan.h"

namespace tilewright::graph {

struct PlanRun {
  PlanRun(const Plan& of, std::span<const Tensor> with)
      : plan(of), inputs(with), memory(of.graph.nodes.size()) {}

  const Plan& plan;
  std::span<const Tensor> inputs;
  // Of nodes, while it is needed. What is there before a kernel writes it is written to.
  std::vector<Tensor> memory;
};

const Tensor& memory_of(const PlanRun& run, int node);
void run_step(PlanRun& run, const PlannedStep& step);
// After all steps.
std::vector<Tensor> results_of(const PlanRun& run);

}  // namespace tilewright::graph
