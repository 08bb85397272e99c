// SPDX-License-Identifier: Apache-2.0
// graph/graph.h — a traced function: nodes in the order in which they were recorded, each with the
// values that it reads.
//
// A value is a view of a node: `permute`, `slice` and `broadcast_to` are shapes, strides and offset
// of what is read, not nodes. The memory of a node is contiguous; that of an input is as its tensor
// has it.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/chunks.h"
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
using Values = std::vector<Value, Recycled<Value>>;  // every node has some, most of them one or two

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
  Values operands;
  int input = -1;
  int axis = 0;
  Tensor captured;
  bool is_made = false;      // captured: by the trace, anew in each
  bool is_written = false;   // made, and written to: elements may have been none before
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

// Nodes by their numbers. A node stays where it is while others are added. A plan keeps those that
// it runs (plan/keep.h).
class NodeList {
 public:
  template <class N>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Node;
    using difference_type = std::ptrdiff_t;
    using pointer = N*;
    using reference = N&;
    Iterator() = default;
    explicit Iterator(Node* const* place) : place_(place) {}
    N& operator*() const { return **place_; }
    N* operator->() const { return *place_; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(place_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Node* const* place_ = nullptr;
  };

  NodeList() = default;
  NodeList(const NodeList& other) {
    for (const Node* node : other.all_)
      all_.push_back(node != nullptr ? &memory_.emplace_back(*node) : nullptr);
  }
  NodeList(NodeList&&) = default;
  NodeList& operator=(NodeList other) {
    all_ = std::move(other.all_);
    memory_ = std::move(other.memory_);
    return *this;
  }

  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  Node& operator[](std::size_t i) { return *all_[i]; }
  const Node& operator[](std::size_t i) const { return *all_[i]; }
  Iterator<Node> begin() { return Iterator<Node>(all_.data()); }
  Iterator<Node> end() { return Iterator<Node>(all_.data() + all_.size()); }
  Iterator<const Node> begin() const { return Iterator<const Node>(all_.data()); }
  Iterator<const Node> end() const { return Iterator<const Node>(all_.data() + all_.size()); }
  void reserve(std::size_t count) { all_.reserve(count); }
  void push_back(Node&& node) { all_.push_back(&memory_.emplace_back(std::move(node))); }
  // Of a list that has all its nodes.
  void shrink(std::size_t count) {
    for (; all_.size() > count; all_.pop_back()) memory_.pop_back();
  }
  bool has(std::size_t i) const { return all_[i] != nullptr; }
  // The others are gone, with their memory.
  void keep(const std::vector<bool>& is_kept);

 private:
  std::vector<Node*> all_;
  Chunks<Node> memory_;
};

struct Graph {
  NodeList nodes;
  Values outputs;
  Device device;

  // "%3: float32[128, 256] = add(%1, %2[:] [256, 1])", one line a node.
  std::string to_string() const;
};

std::string_view node_name(const Node& node);

}  // namespace tilewright::graph
