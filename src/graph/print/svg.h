// SPDX-License-Identifier: Apache-2.0
// graph/print/svg.h — a plan as a drawing: a box for each kernel with the operations that share it,
// and an arc for each value that goes through memory.
#pragma once

#include <string>

#include "graph/plan/plan.h"

namespace tilewright::graph {

std::string to_svg(const Plan& plan);

}  // namespace tilewright::graph
