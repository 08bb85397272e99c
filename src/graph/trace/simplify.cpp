// SPDX-License-Identifier: Apache-2.0
// graph/trace/simplify.cpp — operations that are simpler than they were written, found while they
// are recorded.
#include <algorithm>
#include <cmath>

#include "graph/launch.h"
#include "graph/trace/tracer.h"
#include "tensor/traced.h"

namespace tilewright::graph {

static constexpr int most_widened = 4;

// Operations with a number that change nothing.
bool Tracer::is_neutral(Op op, const Value& number, std::size_t place) {
  if (!number.is_number()) return false;
  const double value = number_value(number.number);
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

namespace {

// Whether (x * c) * p is x * (c * p) for all x, p being a power of two, but for one unit of a
// subnormal number: x * c must not overflow where the whole does not, and a p that magnifies what
// x * c lost below the normal numbers must be small, or c whole, so that nothing was lost.
bool may_join(double c, double p) {
  if (std::abs(p) < 1) return std::abs(c) <= 1;
  return std::abs(p) <= 2 || c == std::trunc(c);
}

// Operations whose results are between -1 and 1.
bool is_at_most_one(Op op) {
  return op == Op::Sigmoid || op == Op::Tanh || op == Op::Erf || op == Op::Sin || op == Op::Cos;
}

}  // namespace

// (x * c) * p => x * (c * p) where p is a power of two and x * c never out of range.
void Tracer::join_factors(Node& product) const {
  if (product.op != Op::Multiply || !is_floating(product.dtype)) return;
  const std::size_t side = product.operands[0].is_number() ? 0 : 1;
  const Value &number = product.operands[side], &other = product.operands[1 - side];
  if (!number.is_number() || other.is_number()) return;
  int exponent = 0;
  const double factor = number_value(number.number);
  if (std::abs(std::frexp(factor, &exponent)) != 0.5) return;
  const Node& scaled = graph.nodes[static_cast<std::size_t>(other.node)];
  const bool is_product = scaled.kind == Node::Kind::Pointwise && scaled.op == Op::Multiply &&
                          scaled.dtype == product.dtype && scaled.shape == product.shape &&
                          other.shape == scaled.shape && other.strides == scaled.strides &&
                          other.offset == 0;
  if (!is_product) return;
  const std::size_t inner = scaled.operands[0].is_number() ? 0 : 1;
  if (!scaled.operands[inner].is_number() || scaled.operands[1 - inner].is_number()) return;
  const double before = number_value(scaled.operands[inner].number), joined = before * factor;
  if (!may_join(before, factor) || !std::isnormal(static_cast<float>(joined))) return;
  const Value x = scaled.operands[1 - inner];
  const Value both{.number = number_argument(number.number.dtype, Scalar(joined))};
  product.operands = {x, both};
}

// (x * 2) * (y * 0.5) => x * y, where x is at most 1, so that its double is no infinity: exact, but
// for the last bit of a subnormal y.
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
        factors[i] = number_value(node.operands[side].number);
        scaled[i] = &node.operands[1 - side];
      }
    if (scaled[i] == nullptr) return;
    const Node& maker = graph.nodes[static_cast<std::size_t>(scaled[i]->node)];
    const bool is_small = maker.kind == Node::Kind::Pointwise && is_at_most_one(maker.op);
    const bool is_double = std::abs(factors[i]) == 2 && is_small;
    if (maker.dtype != product.dtype || !(is_double || std::abs(factors[i]) == 0.5)) return;
  }
  if (factors[0] * factors[1] != 1) return;
  const Value x = *scaled[0], y = *scaled[1];
  product.operands = {x, y};
}

// Is the value computed from places and numbers alone, by a few cheap operations?
bool Tracer::is_of_places(const Value& value, int& operations) const {
  if (value.is_number()) return true;
  const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
  if (node.kind == Node::Kind::Captured) return contents_of(node.captured).has_value();
  if (node.kind != Node::Kind::Pointwise || facts_of(node.op).cost != OpCost::Plain) return false;
  const std::size_t ones = value.shape.size() - std::min(value.shape.size(), node.shape.size());
  for (std::size_t d = 0; d < value.shape.size(); ++d)
    if (d < ones
            ? value.shape[d] != 1
            : value.shape[d] != node.shape[d - ones] || value.strides[d] != node.strides[d - ones])
      return false;
  if (value.offset != 0 || value.shape.size() < node.shape.size() || --operations < 0) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](const Value& operand) { return is_of_places(operand, operations); });
}

Value Tracer::widened(const Value& value, const Shape& shape) {
  if (value.is_number()) return value;
  const Node& narrow = graph.nodes[static_cast<std::size_t>(value.node)];
  if (narrow.kind == Node::Kind::Captured) return value;
  Node node{.kind = narrow.kind,
            .op = narrow.op,
            .operand_dtype = narrow.operand_dtype,
            .dtype = narrow.dtype,
            .shape = shape};
  for (const Value& operand : narrow.operands) node.operands.push_back(widened(operand, shape));
  return value_of(record(std::move(node)));
}

// A mask of places [n, n] beside scores [batch, heads, n, n] is computed for each of them, as part
// of their kernel, instead of in memory by a kernel of its own.
void Tracer::widen_places(Node& node) {
  for (Value& value : node.operands) {
    if (value.is_number() || value.shape == node.shape) continue;
    if (graph.nodes[static_cast<std::size_t>(value.node)].kind != Node::Kind::Pointwise) continue;
    int operations = most_widened;
    if (is_of_places(value, operations)) value = widened(value, node.shape);
  }
}

// 1 + tanh(u) => 2 sigmoid(2 u), which is as exact for all u, and cheaper.
std::optional<Tensor> Tracer::one_plus_tanh(const Node& sum) {
  if (sum.op != Op::Add || !is_floating(sum.dtype)) return std::nullopt;
  for (const std::size_t i : {0u, 1u}) {
    const Value &number = sum.operands[i], &other = sum.operands[1 - i];
    if (!number.is_number() || number_value(number.number) != 1 || other.is_number()) continue;
    const Node& tanh_node = graph.nodes[static_cast<std::size_t>(other.node)];
    const bool is_tanh = tanh_node.op == Op::Tanh && tanh_node.kind == Node::Kind::Pointwise &&
                         tanh_node.dtype == sum.dtype && tanh_node.shape == sum.shape &&
                         other.strides == tanh_node.strides && other.offset == 0;
    if (!is_tanh) continue;
    const DType type = sum.dtype;
    const auto apply = [&](Op op, Values operands) {
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

}  // namespace tilewright::graph
