// SPDX-License-Identifier: Apache-2.0
// graph/trace/traced_node.h — what a tensor of a trace and its views share: the node that they
// stand for now, and writes that are not recorded yet (writes.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/chunks.h"
#include "graph/graph.h"
#include "tensor/traced.h"

namespace tilewright::graph {

class Tracer;

// The node's elements are rows of `period`; a piece is a block of columns of all rows.
struct PendingWrites {
  struct Piece {
    std::int64_t width = 0;
    Tensor rows;
  };
  std::int64_t period = 0;
  std::map<std::int64_t, Piece> pieces;  // by their first column; none overlap
};

// When the trace is over, the tensor has escaped.
class TracedNode final : public Traced {
 public:
  TracedNode(std::uint64_t trace, int node) : trace_(trace), node_(node) {}
  int node() const { return node_; }  // -1 where it has the elements of `same` and no node yet
  void set_node(int node) const { node_ = node; }
  std::uint64_t trace() const { return trace_; }
  // Throws ArgumentError where the trace is over.
  Tracer& tracer(const Tensor& tensor) const;
  Tensor copied(const Tensor& tensor, DType dtype) const override;
  void write(const Tensor& destination, const Tensor& source) const override;

  mutable std::unique_ptr<PendingWrites> pending;
  // A tensor of its own with the elements of another one, as x * 1 makes: it has a node when it is
  // written, or read in parts.
  mutable std::unique_ptr<Value> same;
  bool is_argument = false;  // of the function: the caller's tensor

 private:
  std::uint64_t trace_;  // its number
  mutable int node_;
};

// What tensors of a trace point to.
struct TraceStore : TracedStore {
  Chunks<TracedNode> handles;
};

}  // namespace tilewright::graph
