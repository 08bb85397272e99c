// SPDX-License-Identifier: Apache-2.0
// graph/plan/merge.h — steps that do the same with different small tensors become one kernel: the
// update of all parameters by an optimiser.
#pragma once

#include <vector>

#include "graph/plan/plan.h"

namespace tilewright::graph {

// Of steps in the order in which they run: the earlier ones of those that are alike move down to
// the last, where nothing between reads what they write.
void merge_alike(const Graph& graph, std::vector<PlannedStep>& steps);

}  // namespace tilewright::graph
