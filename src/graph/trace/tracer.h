// SPDX-License-Identifier: Apache-2.0
// graph/trace/tracer.h — records the operations of a function that is run once with tensors without
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "graph/formula.h"
#include "graph/graph.h"
#include "graph/trace/node_table.h"
#include "graph/trace/traced_node.h"
#include "tilewright/ops.h"

namespace tilewright::graph {

class Tracer {
 public:
  Tracer();
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  std::uint64_t number() const { return number_; }  // no other trace of the process has it
  // Null unless this thread traces.
  static Tracer* current();

  Graph graph;

  // ---- Before and after the function.
  Tensor add_input(const Tensor& tensor);
  void add_output(const Tensor& tensor);

  // ---- What operations record. Equal nodes are one.
  Tensor record(Node&& node);
  Value value_of(const Tensor& tensor);
  Tensor tensor_of(int node);
  Tensor tensor_of(const Value& value);
  // A tensor of its own with these elements: what is written to one is not seen in the other.
  Tensor separate(const Tensor& tensor);
  // A node of its own that stands for a tensor; `finish` puts the tensor in its place again.
  Tensor begin_derivative(const Tensor& tensor);
  void finish();
  Tensor record_pointwise(Op op, std::span<const Operand> operands, DType common,
                          const Shape& shape);
  Tensor record_copy(const Tensor& tensor, DType dtype, bool is_kept);
  // The steps of a formula on x, whose rows go along the dimensions of `reduced`.
  struct Rows {
    const Formula& formula;
    const Tensor& x;
    std::uint32_t reduced;
    bool keepdim;
    std::span<const Tensor* const> others;
    std::span<const Argument> numbers;
  };
  Tensor record_rows(const Rows& rows);

  // ---- Writes (writes.cpp).
  // The view of a tensor of the trace gets the elements of the source.
  void record_write(const TracedNode& to, const Tensor& destination, const Tensor& source);
  // What a tensor with memory of its own, contiguous and as long as its buffer, becomes when it is
  // written with values of the trace.
  const Traced* stand_in_for_memory(const Tensor& flat);
  // Throws ArgumentError where the function has stored such a tensor outside of itself.
  void check_kept() const;

 private:
  std::int64_t elements_of(const TracedNode& to) const;
  void check_own(const TracedNode& to, const Tensor& destination) const;
  void add_write(const TracedNode& to, std::int64_t period, std::int64_t begin, const Tensor& rows);
  void write_scattered(const TracedNode& to, const Tensor& destination, const Tensor& value);
  void apply_writes(const TracedNode& to);
  Tensor joined(std::vector<Tensor> parts, std::int64_t rows);
  Value value_of_written(const TracedNode& from, const Tensor& tensor);
  // ---- simplify.cpp
  static bool is_neutral(Op op, const Value& number, std::size_t place);
  std::optional<Tensor> one_plus_tanh(const Node& sum);
  void drop_inverse_factors(Node& product) const;
  void join_factors(Node& product) const;
  bool is_of_places(const Value& value, int& operations) const;
  Value widened(const Value& value, const Shape& shape);
  void widen_places(Node& node);
  Tensor record_alone(const Node& node, const Shape& shape);
  TracedNode& handle_of(int node);
  Tensor argument_of(int node);
  Tensor same_as(const Value& value, DType dtype);
  void give_node(const TracedNode& handle);
  const std::uint64_t number_;
  NodeTable known_;
  std::vector<int> stand_ins_;  // nodes of begin_derivative
  const std::shared_ptr<TraceStore> store_ = std::make_shared<TraceStore>();
};

// Runs while a function is traced on this thread. Throws ArgumentError when one is already.
class TraceScope {
 public:
  TraceScope();
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  Tracer& tracer() { return tracer_; }

 private:
  Tracer tracer_;
};

// Does any of these stand for a value of a trace, or is one from before it, whose contents may be
// others at the next call? Throws ArgumentError for one whose trace is over.
Tracer* tracer_of(std::initializer_list<const Tensor*> tensors);
Tracer* tracer_of(const Tensor& tensor);

}  // namespace tilewright::graph
