// SPDX-License-Identifier: Apache-2.0
// graph/plan/copies.h — rows along several dimensions that no walk joins: steps that put them side
// by side in memory of the plan, before the step that reads them.
#pragma once

#include <vector>

#include "graph/plan/plan.h"

namespace tilewright::graph {

// Adds a node for each operand whose rows are not one run, and makes the step read that instead.
std::vector<PlannedStep> put_rows_together(PlannedStep& step, Graph& graph);

}  // namespace tilewright::graph
