// SPDX-License-Identifier: Apache-2.0
// graph/trace/tracer.cpp — traced tensors and the nodes they stand for.
#include "graph/trace/tracer.h"

#include <atomic>
#include <string>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/eager/eager.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"

namespace tilewright::graph {
namespace {

thread_local Tracer* current_tracer = nullptr;

}  // namespace

Tracer& TracedNode::tracer(const Tensor& tensor) const {
  if (current_tracer == nullptr || current_tracer->number() != trace_)
    throw ArgumentError(
        fmt::format("a {} of a function that was traced is used outside of it: such tensors "
                    "have no elements; return them from the function instead of storing them",
                    tensor_text(tensor)));
  return *current_tracer;
}

Tensor TracedNode::copied(const Tensor& tensor, DType dtype) const {
  return tracer(tensor).record_copy(tensor, dtype, false);
}

void TracedNode::write(const Tensor& destination, const Tensor& source) const {
  tracer(destination).record_write(*this, destination, source);
}

namespace {

const TracedNode* node_of(const Tensor& tensor) {
  return static_cast<const TracedNode*>(traced_of(tensor));
}

}  // namespace

[[maybe_unused]] static const bool is_copy_set =
    (set_captured_copy([](const Tensor& tensor, DType dtype) {
       TW_CHECK(current_tracer != nullptr, "a copy is recorded without a trace");
       return current_tracer->record_copy(tensor, dtype, false);
     }),
     true);

static std::uint64_t next_trace() {
  static std::atomic<std::uint64_t> traces{0};
  return ++traces;
}

Tracer::Tracer() : number_(next_trace()) { graph.nodes.reserve(256); }
Tracer::~Tracer() {
  store_->handles.for_each([](TracedNode& handle) { handle.pending.reset(); });  // refer to it
}

Tracer* Tracer::current() { return current_tracer; }

Tracer* tracer_of(const Tensor& tensor) {
  if (!tensor.is_defined()) return nullptr;
  if (const TracedNode* const traced = node_of(tensor)) return &traced->tracer(tensor);
  return current_tracer != nullptr && is_captured(tensor) ? current_tracer : nullptr;
}

Tracer* tracer_of(std::initializer_list<const Tensor*> tensors) {
  Tracer* found = nullptr;
  for (const Tensor* tensor : tensors)
    if (Tracer* tracer = tracer_of(*tensor)) found = tracer;
  return found;
}

TraceScope::TraceScope() {
  if (current_tracer != nullptr)
    throw ArgumentError(
        "a compiled function was called in a function that is being traced: call the plain "
        "function "
        "there, which becomes part of the same graph");
  current_tracer = &tracer_;
}
TraceScope::~TraceScope() { current_tracer = nullptr; }

TracedNode& Tracer::handle_of(int node) { return store_->handles.emplace_back(number_, node); }

Tensor Tracer::argument_of(int number) {
  const Node& node = graph.nodes[static_cast<std::size_t>(number)];
  TracedNode& handle = handle_of(number);
  handle.is_argument = true;
  return make_traced(store_, handle, {node.dtype, graph.device, node.shape, node.strides, 0});
}

Tensor Tracer::same_as(const Value& value, DType dtype) {
  TracedNode& handle = handle_of(-1);
  handle.same = std::make_unique<Value>(value);
  return make_traced(store_, handle,
                     {dtype, graph.device, value.shape, contiguous_strides(value.shape), 0});
}

Tensor Tracer::separate(const Tensor& tensor) {
  const Value value = value_of(tensor);
  bool is_repeated = false;
  for (std::size_t d = 0; d < value.shape.size(); ++d)
    is_repeated |= value.strides[d] == 0 && value.shape[d] > 1;
  if (is_repeated || graph.nodes[static_cast<std::size_t>(value.node)].is_given())
    return same_as(value, tensor.dtype());
  return tensor_of(value);
}

void Tracer::give_node(const TracedNode& handle) {
  const std::unique_ptr<Value> same = std::move(handle.same);
  const Tensor copied = tensor_of(*same);
  handle.set_node(value_of(record_copy(copied, copied.dtype(), false)).node);
}

Tensor Tracer::tensor_of(int number) {
  const Node& node = graph.nodes[static_cast<std::size_t>(number)];
  return make_traced(store_, handle_of(number),
                     {node.dtype, graph.device, node.shape, node.strides, 0});
}

Tensor Tracer::tensor_of(const Value& value) {
  const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
  return make_traced(store_, handle_of(value.node),
                     {node.dtype, graph.device, value.shape, value.strides, value.offset});
}

Tensor Tracer::begin_derivative(const Tensor& tensor) {
  Node node{.kind = Node::Kind::Pointwise,
            .op = Op::Cast,
            .operand_dtype = tensor.dtype(),
            .dtype = tensor.dtype(),
            .shape = tensor.shape(),
            .operands = {value_of(tensor)},
            .call = "stand-in " + std::to_string(graph.nodes.size())};
  const Tensor made = record(std::move(node));
  stand_ins_.push_back(value_of(made).node);
  return argument_of(stand_ins_.back());
}

void Tracer::finish() {
  if (stand_ins_.empty()) return;
  std::vector<bool> is_replaced(graph.nodes.size(), false);
  for (const int stand_in : stand_ins_) {
    const Node& node = graph.nodes[static_cast<std::size_t>(stand_in)];
    // One whose elements lie otherwise stays: it is a copy.
    if (node.operands[0].strides == node.strides)
      is_replaced[static_cast<std::size_t>(stand_in)] = true;
  }
  const auto replace = [&](Value& value) {
    while (!value.is_number() && is_replaced[static_cast<std::size_t>(value.node)]) {
      const Value& own = graph.nodes[static_cast<std::size_t>(value.node)].operands[0];
      value.node = own.node;
      value.offset += own.offset;
    }
  };
  for (Node& node : graph.nodes)
    for (Value& value : node.operands) replace(value);
}

Tensor Tracer::add_input(const Tensor& tensor) {
  if (graph.nodes.empty()) graph.device = tensor.device();
  if (tensor.device() != graph.device)
    throw ArgumentError(
        fmt::format("a compiled function was called with tensors on {} and {}: "
                    "move them to one device",
                    graph.device.name(), tensor.device().name()));
  const int number = static_cast<int>(graph.nodes.size());
  graph.nodes.push_back({.kind = Node::Kind::Input,
                         .dtype = tensor.dtype(),
                         .shape = tensor.shape(),
                         .strides = tensor.strides(),
                         .input = number});
  return argument_of(number);
}

Value Tracer::value_of(const Tensor& tensor) {
  if (const TracedNode* const traced = node_of(tensor)) {
    if (traced->trace() != number_) [[unlikely]]
      TW_CHECK(&traced->tracer(tensor) == this, "a tensor of another trace");
    if (traced->same) [[unlikely]] {
      const bool is_whole = tensor.shape() == traced->same->shape && tensor.offset() == 0 &&
                            tensor.strides() == contiguous_strides(tensor.shape());
      if (is_whole) return *traced->same;
      give_node(*traced);
    }
    if (traced->pending) [[unlikely]]
      return value_of_written(*traced, tensor);
    return {.node = traced->node(),
            .shape = tensor.shape(),
            .strides = tensor.strides(),
            .offset = tensor.offset()};
  }
  if (tensor.device() != graph.device)
    throw ArgumentError(fmt::format("a traced function on {} uses a {} on {}: move it with to()",
                                    graph.device.name(), tensor_text(tensor),
                                    tensor.device().name()));
  set_read(tensor);
  const OnlyAddresses only;
  // A handle of its own, which tells whether the function keeps one (fold.h).
  const Tensor own = contents_of(tensor) ? Tensor(tensor.buffer(), tensor.dtype(), tensor.shape(),
                                                  tensor.strides(), tensor.offset())
                                         : tensor;
  const int node = known_.place(graph.nodes, own);
  graph.nodes[static_cast<std::size_t>(node)].is_made = !is_captured(tensor);
  return {.node = node, .shape = tensor.shape(), .strides = tensor.strides()};
}

void Tracer::add_output(const Tensor& tensor) {
  Value value = value_of(tensor);
  const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
  // Results are fresh and contiguous: a view, or an argument itself, is copied.
  // (The value, not the tensor, says how elements lie: same_as.)
  const bool is_whole = checked_numel(value.shape, 1) == checked_numel(node.shape, 1) &&
                        value.offset == 0 && is_contiguous(value.shape, value.strides);
  if (node.is_given() || !is_whole) value = value_of(record_copy(tensor, tensor.dtype(), true));
  for (const Value& other : graph.outputs)
    if (other.node == value.node) {  // twice the same result: two tensors
      value = value_of(record_copy(tensor, tensor.dtype(), true));
      break;
    }
  graph.outputs.push_back(std::move(value));
}

Tensor Tracer::record(Node&& node) {
  checked_numel(node.shape, size_of(node.dtype));
  node.strides = contiguous_strides(node.shape);
  return tensor_of(known_.place(graph.nodes, std::move(node)));
}

Tensor Tracer::record_copy(const Tensor& tensor, DType dtype, bool is_kept) {
  Node node{.kind = Node::Kind::Pointwise,
            .op = Op::Cast,
            .operand_dtype = tensor.dtype(),
            .dtype = dtype,
            .shape = tensor.shape(),
            .operands = {value_of(tensor)}};
  // A result must not become one with an equal copy.
  if (is_kept) node.call = "output " + std::to_string(graph.outputs.size());
  return record(std::move(node));
}

Tensor Tracer::record_pointwise(Op op, std::span<const Operand> operands, DType common,
                                const Shape& shape) {
  Node node{.kind = Node::Kind::Pointwise,
            .op = op,
            .operand_dtype = operand_dtype(op, common),
            .dtype = result_dtype(op, common),
            .shape = shape};
  node.operands.reserve(operands.size());
  for (const Operand& operand : operands) {
    if (operand.tensor() != nullptr) node.operands.push_back(value_of(*operand.tensor()));
    else
      node.operands.push_back({.number = operand_argument(node.operand_dtype, operand.number())});
  }
  for (std::size_t i = 0; i < operands.size() && operands.size() == 2; ++i) {
    const Tensor* const other = operands[1 - i].tensor();
    const bool is_same = other != nullptr && other->dtype() == node.dtype &&
                         other->shape() == shape && traced_of(*other);
    if (is_same && is_neutral(op, node.operands[i], i))
      return same_as(node.operands[1 - i], node.dtype);
  }
  if (const std::optional<Tensor> simple = one_plus_tanh(node)) return *simple;
  drop_inverse_factors(node);
  join_factors(node);
  widen_places(node);
  return record(std::move(node));
}

// A reduction over no dimension: every element is a row. Its place in it is 0.
Tensor Tracer::record_alone(const Node& node, const Shape& shape) {
  if (facts_of(node.op).types == TypeRule::Place) return zeros(shape, {node.dtype, graph.device});
  Node copy = node;
  copy.kind = Node::Kind::Pointwise;
  copy.op = Op::Cast;
  copy.shape = shape;
  return record(std::move(copy));
}

Tensor Tracer::record_rows(const Rows& rows) {
  const Formula& f = rows.formula;
  Values values;
  values.push_back(value_of(rows.x));
  for (std::size_t i = 0; i < rows.others.size(); ++i) {
    const Tensor& other = *rows.others[i];
    Tensor aligned = other;
    if (f.leaves[i + 1].is_per_row)  // its dimensions are the kept ones
      for (int d = 0; d < rows.x.rank(); ++d)
        if ((rows.reduced >> d & 1) != 0) aligned = aligned.unsqueeze(d);
    values.push_back(value_of(aligned));
  }
  for (const Argument& number : rows.numbers) values.push_back({.number = number});
  std::vector<Tensor> made;
  const Shape kept = kept_shape(rows.x.shape(), rows.reduced, true);
  const Output& output = f.outputs[0];
  for (std::size_t s = 0; s < f.steps.size(); ++s) {
    const Step& step = f.steps[s];
    // What one operation computes on the way is not rounded to small floats, nor beyond their
    // range, where it goes through memory: the square of a float16 above 255 is.
    const bool is_result = f.first_step() + static_cast<int>(s) == output.value;
    Node node{.op = step.op,
              .operand_dtype = compute_dtype(step.operand_dtype),
              .dtype = is_result ? step.dtype : compute_dtype(step.dtype)};
    const OpClass op_class = facts_of(step.op).op_class;
    for (int i = 0; i < facts_of(step.op).operands; ++i)
      node.operands.push_back(
          values[static_cast<std::size_t>(step.operands[static_cast<std::size_t>(i)])]);
    if (step.op == Op::Cast && node.operands[0].is_number()) {
      const DType to = number_dtype(compute_dtype(step.dtype));
      values.push_back({.number = number_argument(to, number_value(node.operands[0].number))});
      made.emplace_back();
      continue;
    }
    if (rows.reduced == 0 && op_class != OpClass::Pointwise) {
      made.push_back(record_alone(node, rows.x.shape()));
      values.push_back(value_of(made.back()));
      continue;
    }
    if (op_class == OpClass::Pointwise) {
      node.kind = Node::Kind::Pointwise;
      for (const Value& value : node.operands)
        if (!value.is_number()) node.shape = broadcast_shapes("rows", node.shape, value.shape);
    } else {
      node.kind = op_class == OpClass::Reduce ? Node::Kind::Reduce : Node::Kind::Index;
      node.mask = rows.reduced;
      node.shape = op_class == OpClass::Reduce ? kept : rows.x.shape();
      // A sum of what exists once a row (none of ours has one) would need its row's length.
      TW_CHECK(op_class == OpClass::Index || node.operands[0].shape == rows.x.shape(),
               "a reduction of what is one a row");
    }
    made.push_back(record(std::move(node)));
    values.push_back(value_of(made.back()));
  }
  Tensor result = made[static_cast<std::size_t>(output.value - f.first_step())];
  if (result.dtype() != output.dtype) result = record_copy(result, output.dtype, false);
  if (output.is_per_row && !rows.keepdim)
    return result.view(kept_shape(rows.x.shape(), rows.reduced, false));
  return result;
}

}  // namespace tilewright::graph
