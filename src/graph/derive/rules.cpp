// SPDX-License-Identifier: Apache-2.0
// graph/derive/rules.cpp — the derivative of each operation of ops.def, and of products and lists.
#include <cmath>

#include <fmt/format.h>

#include "graph/call.h"
#include "graph/derive/derive.h"
#include "graph/launch.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

// x Phi(x): Phi(x) + x phi(x).
Tensor derive_gelu(const Tensor& x) {
  const Tensor share = 0.5 * (1 + erf(x * std::sqrt(0.5)));
  return share + x * exp(-0.5 * square(x)) * (1 / std::sqrt(2 * M_PI));
}

// x s, s = sigmoid(2 u): s + x s (1 - s) 2 u'.
Tensor derive_gelu_tanh(const Tensor& x) {
  const double c = std::sqrt(2 / M_PI);
  const Tensor s = sigmoid(2 * c * (x + 0.044715 * (x * x * x)));
  const Tensor slope = 2 * c * (1 + 3 * 0.044715 * square(x));
  return s + x * s * (1 - s) * slope;
}

Tensor derive_unary(const Derivation& d) {
  const Tensor &x = d.in[0], &y = d.out, &g = d.g;
  switch (d.node.op) {
    case Op::Negate:
      return -g;
    case Op::Absolute:
      return g * sign(x);
    case Op::Square:
      return g * (2 * x);
    case Op::Relu:
      return where(x <= 0, 0.0, g);
    case Op::Reciprocal:
      return -g * square(y);
    case Op::Exp:
      return g * y;
    case Op::Expm1:
      return g * (y + 1);
    case Op::Log:
      return g / x;
    case Op::Log2:
      return g / (x * std::log(2.0));
    case Op::Log1p:
      return g / (1 + x);
    case Op::Sqrt:
      return g * 0.5 / y;
    case Op::Rsqrt:
      return g * -0.5 * (y * y * y);
    case Op::Sin:
      return g * cos(x);
    case Op::Cos:
      return -g * sin(x);
    case Op::Tan:
      return g * (1 + square(y));
    case Op::Tanh:
      return g * (1 - square(y));
    case Op::Erf:
      return g * exp(-square(x)) * (2 / std::sqrt(M_PI));
    case Op::Sigmoid:
      return g * y * (1 - y);
    case Op::Silu: {
      const Tensor s = sigmoid(x);
      return g * (s * (1 + x * (1 - s)));
    }
    case Op::Gelu:
      return g * derive_gelu(x);
    case Op::GeluTanh:
      return g * derive_gelu_tanh(x);
    case Op::Cast:
      return g.to(x.dtype());
    default:  // steps: floor, sign, comparisons
      return {};
  }
}

// Equal tensors share. A number is a bound: what equals it is inside, as in a clamp with two.
Tensor derive_extreme(const Derivation& d, std::size_t i) {
  const Operand own = d.operand(i), other = d.operand(1 - i);
  const bool is_maximum = d.node.op == Op::Maximum;
  if (other.tensor() == nullptr)
    return where(is_maximum ? ge(own, other) : le(own, other), d.g, 0.0);
  const Tensor loses = is_maximum ? lt(own, other) : gt(own, other);
  return where(loses, 0.0, where(eq(own, other), d.g * 0.5, d.g));
}

// By the base y x^(y - 1), by the exponent x^y log(x); where a power of 0 makes these 0 * inf, the
// function is constant.
Tensor derive_power(const Derivation& d, std::size_t i) {
  const Tensor &x = d.in[0], &y = d.in[1];
  if (i == 1) {
    const Tensor scaled = d.g * d.out;
    if (x.is_defined()) return where(logical_and(eq(x, 0.0), ge(y, 0.0)), 0.0, scaled * log(x));
    const double base = d.operand(0).number().real();
    if (base == 0) return where(ge(y, 0.0), 0.0, scaled * std::log(base));
    return scaled * std::log(base);
  }
  if (y.is_defined()) return where(eq(y, 0.0), 0.0, d.g * y * pow(x, y - 1));
  const double exponent = d.operand(1).number().real();
  if (exponent == 0) return {};
  return d.g * exponent * pow(x, exponent - 1);
}

Tensor derive_operand(const Derivation& d, std::size_t i) {
  const Tensor& g = d.g;
  const bool is_first = i == 0;
  switch (d.node.op) {
    case Op::Add:
      return g;
    case Op::Subtract:
      return is_first ? g : -g;
    case Op::Multiply:
      return mul(g, d.operand(1 - i));
    case Op::Divide:
    case Op::Quotient:
      return is_first ? div(g, d.operand(1)) : -g * div(d.out, d.operand(1));
    case Op::Power:
      return derive_power(d, i);
    case Op::Remainder:
      return is_first ? g : -g * floor_divide(d.operand(0), d.operand(1));
    case Op::Minimum:
    case Op::Maximum:
      return derive_extreme(d, i);
    case Op::Where:
      if (is_first) return {};
      return i == 1 ? where(d.in[0], g, 0.0) : where(d.in[0], 0.0, g);
    case Op::Clamp:
      if (!is_first) return {};
      return where(logical_and(ge(d.in[0], d.operand(1)), le(d.in[0], d.operand(2))), g, 0.0);
    default:
      return {};
  }
}

std::vector<int> reduced_axes(const Derivation& d) {
  std::vector<int> axes;
  for (int axis = 0; axis < d.in[0].rank(); ++axis)
    if ((d.node.mask >> axis & 1) != 0) axes.push_back(axis);
  return axes;
}

// The product of all others. The only zero of a row has that of the rest, of several zeros none
// has any, unless the rest has a NaN.
Tensor derive_row_product(const Derivation& d) {
  const Tensor& x = d.in[0];
  const std::vector<int> axes = reduced_axes(d);
  const Tensor is_zero = eq(x, 0.0);
  const Tensor zeros_of_row = sum(to(is_zero, x.dtype()), axes, true);
  const Tensor rest = prod(where(is_zero, 1.0, x), axes, true);
  const Tensor by_zero = where(logical_or(eq(zeros_of_row, 1.0), isnan(rest)), rest, 0.0);
  return d.g * where(is_zero, by_zero, d.out / where(is_zero, 1.0, x));
}

Tensor derive_reduction(const Derivation& d) {
  const Tensor& x = d.in[0];
  switch (d.node.op) {
    case Op::Sum:
      return d.g.broadcast_to(x.shape());
    case Op::Product:
      return derive_row_product(d);
    case Op::Max:
    case Op::Min: {
      // Equal ones share. Counts go beyond what small floats can hold. Of these, one of both may
      // have gone through memory and the other not: copies round them, so that the best is equal.
      const bool is_rounded = compute_dtype(x.dtype()) != x.dtype() && is_floating(x.dtype());
      const Tensor is_equal = is_rounded ? eq(x.clone(), d.out.clone()) : eq(x, d.out);
      const Tensor is_best = to(is_equal, compute_dtype(x.dtype()));
      return is_best * (d.g / sum(is_best, reduced_axes(d), true));
    }
    default:  // max_number is what a row is shifted by, which changes no result; indices have none
      return {};
  }
}

// a^T g, with its elements in the order of b's: weights are read as their transpose, and their
// derivative should not have to be transposed for them.
Tensor derive_second(const Tensor& a, const Tensor& b, const Tensor& g) {
  const bool is_transposed = b.rank() == 2 && b.stride(0) == 1 && b.stride(1) != 1;
  if (is_transposed) return matmul(g.t(), a).t();
  return matmul(a.transpose(-1, -2), g);
}

std::vector<Tensor> derive_product(const Derivation& d) {
  const Tensor &a = d.in[0], &b = d.in[1], &g = d.g;
  std::vector<Tensor> made = {matmul(g, b.t()), {}};
  if (b.rank() == 2 && a.rank() > 2) {  // one sum over all rows of the stack
    std::int64_t rows = 1;
    for (int axis = 0; axis + 1 < a.rank(); ++axis) rows *= a.size(axis);
    made[1] = derive_second(a.reshape({rows, a.size(-1)}), b, g.reshape({rows, g.size(-1)}));
  } else {
    made[1] = derive_second(a, b, g);
  }
  if (d.in.size() > 2) made.push_back(g);
  return made;
}

// Rows that were read several times get the sum.
std::vector<Tensor> derive_table(const Derivation& d) {
  const Tensor &table = d.in[0], &index = d.in[1];
  const Tensor rows = d.g.reshape({index.numel(), table.size(1)});
  const Tensor nothing = zeros(table.shape(), {table.dtype(), table.device()});
  return {index_add(nothing, 0, index.reshape({-1}), rows), {}};
}

std::vector<Tensor> derive_list(const Derivation& d) {
  std::vector<Tensor> made;
  std::int64_t from = 0;
  for (const Tensor& part : d.in) {
    const std::int64_t to_place = from + part.size(d.node.axis);
    made.push_back(d.g.slice(d.node.axis, from, to_place));
    from = to_place;
  }
  return made;
}

}  // namespace

Operand Derivation::operand(std::size_t i) const {
  if (in[i].is_defined()) return in[i];
  return Operand(number_value(node.operands[i].number));
}

std::vector<Tensor> derive_node(const Derivation& d) {
  switch (d.node.kind) {
    case Node::Kind::Pointwise: {
      if (d.in.size() == 1) return {derive_unary(d)};
      std::vector<Tensor> made(d.in.size());
      for (std::size_t i = 0; i < d.in.size(); ++i)
        if (d.in[i].is_defined()) made[i] = derive_operand(d, i);
      return made;
    }
    case Node::Kind::Reduce:
      return {derive_reduction(d)};
    case Node::Kind::Contract:
      return derive_product(d);
    case Node::Kind::Join:
      return derive_list(d);
    case Node::Kind::Gather:
      return derive_table(d);
    case Node::Kind::Call:
      return derive_call(d);
    case Node::Kind::Input:
    case Node::Kind::Captured:
    case Node::Kind::Index:
      return {};
  }
  return {};
}

}  // namespace tilewright::graph
