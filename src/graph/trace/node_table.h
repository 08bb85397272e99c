// SPDX-License-Identifier: Apache-2.0
// graph/trace/node_table.h — finds the node of a graph that computes what a new one would.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace tilewright::graph {

class NodeTable {
 public:
  // The number of an equal node among `nodes`; where there is none, the node becomes the last.
  int place(NodeList& nodes, Node&& node);
  // Likewise of a captured tensor, which is one handle to one memory.
  int place(NodeList& nodes, const Tensor& captured);

 private:
  struct Slot {
    std::uint64_t hash = 0;
    int number = -1;  // -1: empty
  };
  template <class IsEqual>
  int find(std::uint64_t hash, const IsEqual& is_equal) const;
  int append(NodeList& nodes, Node&& node, std::uint64_t hash);
  void insert(Slot slot);

  std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace tilewright::graph
