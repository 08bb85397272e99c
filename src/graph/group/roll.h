// SPDX-License-Identifier: Apache-2.0
// graph/group/roll.h — a list of alike expressions, joined, is one expression over a longer tensor.
#pragma once

#include "graph/graph.h"

namespace tilewright::graph {

// What a traced loop makes element by element, or row by row, and then joins (cat, stack) becomes
// one node for each operation of the loop's body: its tensors are read through a view with a
// dimension for the loop, two where the places it reads grow in two steps (a loop in a loop), and
// its numbers, where they differ, from a constant tensor.
Graph roll_lists(Graph graph);

}  // namespace tilewright::graph
