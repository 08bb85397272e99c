// SPDX-License-Identifier: Apache-2.0
// graph/plan/draft.h — what fusion has decided about a step, apart from sizes: graphs that differ
// in sizes alone have the same drafts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/plan/plan.h"

namespace tilewright::graph {

struct Draft {
  struct Number {
    int node = 0;
    std::size_t operand = 0;
  };
  int node = -1;  // that has its own operation; -1: a group
  const Formula* formula = nullptr;
  Shape domain;
  std::uint32_t mask = 0;
  std::vector<PlannedLeaf> leaves;
  std::vector<int> written;
  std::vector<Shape> written_strides;  // over the domain
  std::vector<Number> numbers;         // where they stand in the graph
};

// In an order in which everything is written before it is read.
std::vector<Draft> draft_steps(const Graph& graph, bool fuses);

// Every size, stride and offset of a draft, to be replaced.
template <class Replace>
void replace_sizes(Draft& draft, const Replace& replace) {
  for (std::int64_t& size : draft.domain) size = replace(size);
  for (PlannedLeaf& leaf : draft.leaves) {
    leaf.offset = replace(leaf.offset);
    for (std::int64_t& stride : leaf.strides) stride = replace(stride);
  }
  for (Shape& strides : draft.written_strides)
    for (std::int64_t& stride : strides) stride = replace(stride);
}

// The step of a draft whose sizes are places in `sizes`, but for its walk.
PlannedStep step_of(const Draft& draft, const Graph& graph, std::span<const std::int64_t> sizes);
// False where no walk joins the dimensions of its rows (copies.h).
bool set_walk(PlannedStep& step, const Draft& draft, const Graph& graph,
              std::span<const std::int64_t> sizes);

}  // namespace tilewright::graph
