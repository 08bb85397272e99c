// SPDX-License-Identifier: Apache-2.0
// graph/graph.h — a traced function: nodes in the order in which they were recorded, each with the
// values that it reads.
//
// A value is a view of a node: `permute`, `slice` and `broadcast_to` are shapes, strides and offset
// of what is read, not nodes. The memory of a node is contiguous; that of an input is as its tensor
// has it.
#pragma once

#include <string>
#include <vector>

#include "graph/op.h"
#include "tilewright/tensor.h"

namespace tilewright::graph {

struct Value {
  int node = -1;  // -1: a number
  Shape shape;
  Shape strides;
  std::int64_t offset = 0;  // from the node's first element
  Argument number;

  bool is_number() const { return node < 0; }
};

struct Node {
  enum class Kind {
    Input,      // argument `input` of the function
    Captured,   // a tensor that the function refers to; bound by handle
    Pointwise,  // `op` on operands that are broadcast to the shape
    Reduce,     // `op` along the dimensions of `mask`, which have size 1 in the shape
    Index,      // the place along the dimensions of `mask`
    Contract,   // matmul(a, b) or linear(a, b^T, bias), by `call`
    Gather,     // embedding(table, index)
    Join,       // cat along dimension `axis`
    Call,       // an operation of call.h, by its name `call`, with the numbers of `attributes`
  };
  Kind kind = Kind::Pointwise;
  Op op = Op::Add;
  DType operand_dtype = DType::Float32;
  DType dtype = DType::Float32;
  Shape shape;
  Shape strides;
  std::uint32_t mask = 0;
  std::vector<Value> operands;
  int input = -1;
  int axis = 0;
  Tensor captured;
  bool is_constant = false;  // captured, and made by the trace; `call` says how
  bool is_counting = false;  // captured: an element is its place, which kernels compute
  std::string call;
  std::vector<std::int64_t> attributes;

  // Computed by a kernel that a formula describes: may share one with others.
  bool is_fusible() const {
    return kind == Kind::Pointwise || kind == Kind::Reduce || kind == Kind::Index;
  }
  bool is_given() const { return kind == Kind::Input || kind == Kind::Captured; }
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> outputs;
  Device device;

  // "%3: float32[128, 256] = add(%1, %2[:] [256, 1])", one line a node.
  std::string to_string() const;
};

std::string_view node_name(const Node& node);

}  // namespace tilewright::graph
