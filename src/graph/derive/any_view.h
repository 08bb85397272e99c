// SPDX-License-Identifier: Apache-2.0
// graph/derive/any_view.h — the derivative through a view that is none of the simple ones.
#pragma once

#include "graph/graph.h"

namespace tilewright::graph {

// The derivative by a contiguous node from that by a view of it, whose strides, steps and overlaps
// may be any: each element of the node reads those of the view that lie on it, by lists of places
// that are made once, when the function is traced.
Tensor through_any_view(const Value& value, const Node& node, Tensor g);

}  // namespace tilewright::graph
