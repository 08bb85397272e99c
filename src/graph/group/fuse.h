// SPDX-License-Identifier: Apache-2.0
// graph/group/fuse.h — which nodes of a graph share a kernel.
//
// A group walks over one domain, with rows along the dimensions of its mask where it has
// reductions. A node joins the group of what it reads where it has the domain's shape, or one
// element a row, and reads at its own place: through views that permute, add or repeat dimensions,
// not through those that move elements.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace tilewright::graph {

struct Group {
  std::vector<int> nodes;  // in the graph's order
  Shape domain;
  std::uint32_t mask = 0;
  // Of other groups: values that it computes again, in the graph's order (recompute.h).
  std::vector<int> recomputed = {};
};

struct Fusion {
  std::vector<Group> groups;
  std::vector<int> group_of;  // by node; -1: not in one
  std::vector<std::vector<int>>
      place_of;                      // by node: the dimension of the domain of each of its own
  std::vector<bool> is_needed;       // by node: leads to an output
  std::vector<std::string> reasons;  // why a value goes through memory, a sentence each, if asked
};

// Without `fuses` every node is a group of its own.
Fusion fuse(const Graph& graph, bool fuses = true, bool gives_reasons = false);

// What fusion asks about a reduction's sizes besides which are equal and which are 0 or 1.
bool has_few_long_rows(const Node& reduction);

// Numbers that a node takes as arguments of its kernel.
std::size_t numbers_of(const Node& node);
// Does a kernel over so many dimensions take as many tensors, with all their strides, and numbers?
bool fits_arguments(std::size_t rank, std::size_t tensors, std::size_t numbers);

// The strides with which a value is read over a group's domain by a node whose dimensions lie at
// `place` in it.
Shape domain_strides(const Group& group, const Value& value, const std::vector<int>& place);

}  // namespace tilewright::graph
