// SPDX-License-Identifier: Apache-2.0
// graph/derive/derive.h — reverse mode: the derivative of a graph is more nodes of the same graph.
#pragma once

#include <optional>
#include <vector>

#include "graph/trace/tracer.h"

namespace tilewright::graph {

// What a node's rule sees: tensors that stand for its operands (undefined for numbers), its
// numbers, its result, and the derivative of the value by that result.
struct Derivation {
  const Node& node;
  std::vector<Tensor> in;
  Tensor out;
  Tensor g;

  // Operand i, be it a tensor or a number.
  Operand operand(std::size_t i) const;
};

// The derivative by each operand, with the node's (a reduction's operand's) shape or one that
// broadcasts to it; undefined where there is none. Throws ArgumentError for a node that has no
// rule.
std::vector<Tensor> derive_node(const Derivation& d);

std::vector<Tensor> derive(Tracer& tracer, const Tensor& value, std::span<const Tensor> by);

}  // namespace tilewright::graph
