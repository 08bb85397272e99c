// SPDX-License-Identifier: Apache-2.0
// graph/lower/group.h — a formula becomes a kernel of the tile IR for one class of walks.
//
// Arguments of the kernel, in order: addresses of leaves (of a leaf that is its own place: the
// place of the first element) and outputs, numbers, the walk's sizes, and of each operand that has
// them the strides of the outer dimensions and, where it is not 1, of the innermost.
// `group_arguments` gives a launch's in the same order.
#pragma once

#include <span>

#include "graph/formula.h"
#include "graph/layout.h"
#include "ir/kernel.h"

namespace tilewright::graph {

ir::Kernel lower_group(const Formula& formula, const WalkClass& walk);

// The same formula over several lists of operands at once, for linear walks of one class: a program
// finds the list that its block is in. Arguments: addresses of the first list's leaves and outputs,
// those of the second, ...; numbers; the size of each.
ir::Kernel lower_lists(const Formula& formula, const WalkClass& walk, int lists);

// Writes sizes and strides; returns how many there are. `out` has room for max_walk_arguments.
inline constexpr int max_walk_arguments = (max_operands + 1) * (max_rank + 1);
int walk_arguments(const Walk& walk, std::int64_t* out);

}  // namespace tilewright::graph
