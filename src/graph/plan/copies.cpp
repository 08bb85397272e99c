// SPDX-License-Identifier: Apache-2.0
// graph/plan/copies.cpp — which operands are copied, and as what.
#include "graph/plan/copies.h"

#include <memory>
#include <optional>
#include <utility>

#include "graph/eager/eager.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

bool is_reduced(const PlannedStep& step, std::size_t d) { return (step.mask >> d & 1) != 0; }

// Whether the dimensions of a row are one dimension of this operand.
bool lies_together(const PlannedStep& step, const PlannedLeaf& leaf) {
  std::optional<std::int64_t> expected;
  for (std::size_t d = step.domain.size(); d-- > 0;) {
    if (!is_reduced(step, d) || step.domain[d] == 1) continue;
    if (expected && leaf.strides[d] != *expected) return false;
    expected = leaf.strides[d] * step.domain[d];
  }
  return true;
}

// Dimensions that are kept, then those of the row. What is repeated from row to row is there once.
struct RowsTogether {
  std::vector<std::size_t> order;
  Shape shape, strides;  // of what is copied, in that order
};
RowsTogether rows_of(const PlannedStep& step, const PlannedLeaf& leaf) {
  RowsTogether rows;
  for (const bool reduced : {false, true})
    for (std::size_t d = 0; d < step.domain.size(); ++d) {
      if (is_reduced(step, d) != reduced) continue;
      rows.order.push_back(d);
      rows.shape.push_back(!reduced && leaf.strides[d] == 0 ? 1 : step.domain[d]);
      rows.strides.push_back(leaf.strides[d]);
    }
  return rows;
}

const Formula& copy_formula(DType dtype) {
  auto formula = std::make_unique<Formula>();
  formula->output(formula->leaf(dtype), dtype);
  return shared_formula(std::move(formula));
}

PlannedStep copy_step(const PlannedLeaf& leaf, const RowsTogether& rows, const Node& to, int number,
                      DeviceKind device) {
  PlannedStep step;
  step.formula = &copy_formula(to.dtype);
  step.domain = rows.shape;
  step.leaves = {{leaf.node, leaf.offset, rows.strides}};
  step.written = {number};
  Walk walk;
  walk.set_sizes(step.domain);
  walk.add_operand(step.domain, rows.strides);
  walk.add_operand(step.domain, to.strides);
  walk.finish(0, false, device);
  step.walk = walk;
  step.strides = walk.packed_strides();
  return step;
}

}  // namespace

std::vector<PlannedStep> put_rows_together(PlannedStep& step, Graph& graph) {
  const DeviceKind device = emulated_target() != nullptr ? DeviceKind::Cuda : graph.device.kind;
  std::vector<PlannedStep> copies;
  for (std::size_t l = 0; l < step.leaves.size(); ++l) {
    PlannedLeaf& leaf = step.leaves[l];
    if (lies_together(step, leaf)) continue;
    const RowsTogether rows = rows_of(step, leaf);
    Node node{.op = Op::Cast};
    node.dtype = node.operand_dtype = step.formula->leaves[l].dtype;
    node.shape = rows.shape;
    node.strides = contiguous_strides(node.shape);
    const int number = static_cast<int>(graph.nodes.size());
    copies.push_back(copy_step(leaf, rows, node, number, device));
    leaf = {number, 0, Shape(step.domain.size())};
    for (std::size_t i = 0; i < rows.order.size(); ++i)
      leaf.strides[rows.order[i]] = node.shape[i] == 1 ? 0 : node.strides[i];
    graph.nodes.push_back(std::move(node));
  }
  return copies;
}

}  // namespace tilewright::graph
