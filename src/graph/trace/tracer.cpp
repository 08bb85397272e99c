// SPDX-License-Identifier: Apache-2.0
// graph/trace/tracer.cpp — traced tensors and the nodes they stand for.
#include "graph/trace/tracer.h"

#include <atomic>
#include <bit>
#include <cmath>

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

// A node of a trace. When the trace is over, the tensor has escaped.
class TracedNode final : public Traced {
 public:
  TracedNode(std::uint64_t trace, int node) : trace_(trace), node_(node) {}
  int node() const { return node_; }
  Tracer& tracer(const Tensor& tensor) const {
    if (current_tracer == nullptr || current_tracer->number() != trace_)
      throw ArgumentError(
          fmt::format("a {} of a function that was traced is used outside of it: such tensors "
                      "have no elements; return them from the function instead of storing them",
                      tensor_text(tensor)));
    return *current_tracer;
  }
  Tensor copied(const Tensor& tensor, DType dtype) const override {
    return tracer(tensor).record_copy(tensor, dtype, false);
  }

 private:
  std::uint64_t trace_;  // its number
  int node_;
};

namespace {

const TracedNode* node_of(const Tensor& tensor) {
  return static_cast<const TracedNode*>(traced_of(tensor).get());
}

double real_value(const Argument& n) {
  if (n.dtype == DType::Float64) return std::bit_cast<double>(n.bits);
  if (is_floating(n.dtype))
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(n.bits)));
  return static_cast<double>(static_cast<std::int64_t>(n.bits));
}

// Operations with a number that change nothing.
bool is_neutral(Op op, const Value& number, std::size_t place) {
  if (!number.is_number()) return false;
  const double value = real_value(number.number);
  switch (op) {
    case Op::Multiply:  // x * 1, 1 * x => x
      return value == 1;
    case Op::Divide:  // x / 1 => x
    case Op::Quotient:
      return place == 1 && value == 1;
    case Op::Subtract:  // x - 0 => x (x + 0 is not: it makes 0 of -0)
      return place == 1 && value == 0 && !std::signbit(value);
    default:
      return false;
  }
}

}  // namespace

static std::uint64_t next_trace() {
  static std::atomic<std::uint64_t> traces{0};
  return ++traces;
}

Tracer::Tracer() : number_(next_trace()), handles_(std::make_shared<std::deque<TracedNode>>()) {
  graph.nodes.reserve(256);
}
Tracer::~Tracer() = default;

Tracer* Tracer::current() { return current_tracer; }

Tracer* tracer_of(const Tensor& tensor) {
  if (!tensor.is_defined() || !traced_of(tensor)) return nullptr;
  return &node_of(tensor)->tracer(tensor);
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

// All live in one list, which the last of them takes along.
std::shared_ptr<const TracedNode> Tracer::handle_of(int node) {
  handles_->emplace_back(number_, node);
  return {handles_, &handles_->back()};
}

Tensor Tracer::tensor_of(int number) {
  const Node& node = graph.nodes[static_cast<std::size_t>(number)];
  return make_traced(handle_of(number), {node.dtype, graph.device, node.shape, node.strides, 0});
}

Tensor Tracer::tensor_of(const Value& value) {
  const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
  return make_traced(handle_of(value.node),
                     {node.dtype, graph.device, value.shape, value.strides, value.offset});
}

Tensor Tracer::begin_derivative(const Tensor& tensor) {
  Node node{.kind = Node::Kind::Pointwise,
            .op = Op::Cast,
            .operand_dtype = tensor.dtype(),
            .dtype = tensor.dtype(),
            .shape = tensor.shape(),
            .operands = {value_of(tensor)},
            .call = fmt::format("stand-in {}", graph.nodes.size())};
  const Tensor made = record(std::move(node));
  stand_ins_.push_back(value_of(made).node);
  return made;
}

void Tracer::finish() {
  const auto replace = [&](Value& value) {
    for (bool is_changed = true; is_changed && !value.is_number();) {
      is_changed = false;
      for (const int stand_in : stand_ins_) {
        const Value& own = graph.nodes[static_cast<std::size_t>(stand_in)].operands[0];
        const Node& node = graph.nodes[static_cast<std::size_t>(stand_in)];
        // One whose elements lie otherwise stays: it is a copy.
        if (value.node != stand_in || own.strides != node.strides) continue;
        value.node = own.node;
        value.offset += own.offset;
        is_changed = true;
      }
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
  return tensor_of(number);
}

Value Tracer::value_of(const Tensor& tensor) {
  if (traced_of(tensor)) {
    const TracedNode* const traced = node_of(tensor);
    TW_CHECK(&traced->tracer(tensor) == this, "a tensor of another trace");
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
  return {
      .node = known_.place(graph.nodes, own), .shape = tensor.shape(), .strides = tensor.strides()};
}

void Tracer::add_output(const Tensor& tensor) {
  Value value = value_of(tensor);
  const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
  // Results are fresh and contiguous: a view, or an argument itself, is copied.
  const bool is_whole = checked_numel(value.shape, 1) == checked_numel(node.shape, 1) &&
                        value.offset == 0 && tensor.is_contiguous();
  if (node.is_given() || !is_whole) value = value_of(record_copy(tensor, tensor.dtype(), true));
  for (const Value& other : graph.outputs)
    if (other.node == value.node) {  // twice the same result: two tensors
      value = value_of(record_copy(tensor, tensor.dtype(), true));
      break;
    }
  graph.outputs.push_back(std::move(value));
}

Tensor Tracer::record(Node node) {
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
  if (is_kept) node.call = fmt::format("output {}", graph.outputs.size());
  return record(std::move(node));
}

Tensor Tracer::record_pointwise(Op op, std::span<const Operand> operands, DType common,
                                const Shape& shape) {
  Node node{.kind = Node::Kind::Pointwise,
            .op = op,
            .operand_dtype = operand_dtype(op, common),
            .dtype = result_dtype(op, common),
            .shape = shape};
  const DType number_type = number_dtype(compute_dtype(node.operand_dtype));
  node.operands.reserve(operands.size());
  for (const Operand& operand : operands) {
    if (operand.tensor() != nullptr) node.operands.push_back(value_of(*operand.tensor()));
    else node.operands.push_back({.number = number_argument(number_type, operand.number())});
  }
  for (std::size_t i = 0; i < operands.size() && operands.size() == 2; ++i) {
    const Tensor* const other = operands[1 - i].tensor();
    const bool is_same = other != nullptr && other->dtype() == node.dtype &&
                         other->shape() == shape && traced_of(*other);
    if (is_same && is_neutral(op, node.operands[i], i)) return *other;
  }
  if (const std::optional<Tensor> simple = one_plus_tanh(node)) return *simple;
  drop_inverse_factors(node);
  join_factors(node);
  return record(std::move(node));
}

// (x * c) * p => x * (c * p) where p is a power of two: exact, unless x * c is out of range.
void Tracer::join_factors(Node& product) const {
  if (product.op != Op::Multiply || !is_floating(product.dtype)) return;
  const std::size_t side = product.operands[0].is_number() ? 0 : 1;
  const Value &number = product.operands[side], &other = product.operands[1 - side];
  if (!number.is_number() || other.is_number()) return;
  int exponent = 0;
  const double factor = real_value(number.number);
  if (std::abs(std::frexp(factor, &exponent)) != 0.5) return;
  const Node& scaled = graph.nodes[static_cast<std::size_t>(other.node)];
  const bool is_product = scaled.kind == Node::Kind::Pointwise && scaled.op == Op::Multiply &&
                          scaled.dtype == product.dtype && scaled.shape == product.shape &&
                          other.shape == scaled.shape && other.strides == scaled.strides &&
                          other.offset == 0;
  if (!is_product) return;
  const std::size_t inner = scaled.operands[0].is_number() ? 0 : 1;
  if (!scaled.operands[inner].is_number() || scaled.operands[1 - inner].is_number()) return;
  const double joined = real_value(scaled.operands[inner].number) * factor;
  if (!std::isnormal(static_cast<float>(joined))) return;
  const Value x = scaled.operands[1 - inner];
  const Value both{.number = number_argument(number.number.dtype, Scalar(joined))};
  product.operands = {x, both};
}

// (x * c) * (y * d) => x * y where c and d are powers of two and c * d is 1: exact.
void Tracer::drop_inverse_factors(Node& product) const {
  if (product.op != Op::Multiply || !is_floating(product.dtype)) return;
  double factors[2] = {};
  const Value* scaled[2] = {};
  for (const std::size_t i : {0u, 1u}) {
    const Value& value = product.operands[i];
    if (value.is_number()) return;
    const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
    const bool is_product = node.kind == Node::Kind::Pointwise && node.op == Op::Multiply &&
                            node.dtype == product.dtype && node.shape == product.shape &&
                            value.shape == node.shape && value.strides == node.strides &&
                            value.offset == 0;
    if (!is_product) return;
    for (const std::size_t side : {0u, 1u})
      if (node.operands[side].is_number() && !node.operands[1 - side].is_number()) {
        factors[i] = real_value(node.operands[side].number);
        scaled[i] = &node.operands[1 - side];
      }
    int exponent = 0;
    if (scaled[i] == nullptr || std::abs(std::frexp(factors[i], &exponent)) != 0.5) return;
    if (graph.nodes[static_cast<std::size_t>(scaled[i]->node)].dtype != product.dtype) return;
  }
  if (factors[0] * factors[1] != 1) return;
  const Value x = *scaled[0], y = *scaled[1];
  product.operands = {x, y};
}

// 1 + tanh(u) => 2 sigmoid(2 u), which is as exact for all u, and cheaper.
std::optional<Tensor> Tracer::one_plus_tanh(const Node& sum) {
  if (sum.op != Op::Add || !is_floating(sum.dtype)) return std::nullopt;
  for (const std::size_t i : {0u, 1u}) {
    const Value &number = sum.operands[i], &other = sum.operands[1 - i];
    if (!number.is_number() || real_value(number.number) != 1 || other.is_number()) continue;
    const Node& tanh_node = graph.nodes[static_cast<std::size_t>(other.node)];
    const bool is_tanh = tanh_node.op == Op::Tanh && tanh_node.kind == Node::Kind::Pointwise &&
                         tanh_node.dtype == sum.dtype && tanh_node.shape == sum.shape &&
                         other.strides == tanh_node.strides && other.offset == 0;
    if (!is_tanh) continue;
    const DType type = sum.dtype;
    const auto apply = [&](Op op, std::vector<Value> operands) {
      Node node{.op = op,
                .operand_dtype = type,
                .dtype = type,
                .shape = sum.shape,
                .operands = std::move(operands)};
      join_factors(node);
      return value_of(record(std::move(node)));
    };
    const Value two{.number = number_argument(compute_dtype(type), 2.0)};
    const Value doubled = apply(Op::Multiply, {tanh_node.operands[0], two});
    const Value share = apply(Op::Sigmoid, {doubled});
    return tensor_of(apply(Op::Multiply, {share, two}).node);
  }
  return std::nullopt;
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
  std::vector<Value> values;
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
  for (const Step& step : f.steps) {
    Node node{.op = step.op, .operand_dtype = step.operand_dtype, .dtype = step.dtype};
    const OpClass op_class = facts_of(step.op).op_class;
    for (int i = 0; i < facts_of(step.op).operands; ++i)
      node.operands.push_back(
          values[static_cast<std::size_t>(step.operands[static_cast<std::size_t>(i)])]);
    if (step.op == Op::Cast && node.operands[0].is_number()) {
      const DType to = number_dtype(compute_dtype(step.dtype));
      values.push_back({.number = number_argument(to, real_value(node.operands[0].number))});
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
  const Output& output = f.outputs[0];
  Tensor result = made[static_cast<std::size_t>(output.value - f.first_step())];
  if (result.dtype() != output.dtype) result = record_copy(result, output.dtype, false);
  if (output.is_per_row && !rows.keepdim)
    return result.view(kept_shape(rows.x.shape(), rows.reduced, false));
  return result;
}

}  // namespace tilewright::graph
