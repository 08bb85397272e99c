// SPDX-License-Identifier: Apache-2.0
// graph/trace/fold.h — tensors that a traced function made by `full` and `arange` are computed
// where they are read: a constant is a number, and an element of arange is its own place.
#pragma once

#include "graph/graph.h"

namespace tilewright::graph {

// Before the trace is over, when the function's own tensors are gone: one that somebody still holds
// may be written later, and is read from memory. Operations that are no part of a fused kernel read
// all of them from there.
void fold_contents(Graph& graph);

}  // namespace tilewright::graph
