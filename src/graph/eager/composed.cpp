// SPDX-License-Identifier: Apache-2.0
// graph/eager/composed.cpp — operations that consist of others: padding, attention, batched
// products.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "graph/eager/eager.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// In a trace nothing is written to: the padding is put around by lists.
Tensor pad_dimension(const Tensor& x, int d, std::int64_t low, std::int64_t high, double value) {
  const auto part = [&](std::int64_t size) {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(d)] = size;
    return full(std::move(shape), value, {x.dtype(), x.device()});
  };
  std::vector<Tensor> parts;
  if (low > 0) parts.push_back(part(low));
  parts.push_back(x);
  if (high > 0) parts.push_back(part(high));
  return parts.size() == 1 ? x : cat(parts, d);
}

struct Edges {
  std::int64_t low = 0, high = 0;
};
// For each dimension; negative ones cut.
std::vector<Edges> edges_of(const Tensor& x, std::span<const std::int64_t> edges) {
  if (edges.size() % 2 != 0 || edges.size() > 2 * x.shape().size())
    throw ArgumentError(
        fmt::format("pad({}, {}): there are two numbers for each dimension, the last one first",
                    tensor_text(x), shape_text({edges.begin(), edges.end()})));
  std::vector<Edges> by_dimension(x.shape().size());
  for (std::size_t i = 0; i < edges.size() / 2; ++i) {
    const std::size_t d = x.shape().size() - 1 - i;
    by_dimension[d] = {edges[2 * i], edges[2 * i + 1]};
    if (x.shape()[d] + std::min<std::int64_t>(edges[2 * i], 0) +
            std::min<std::int64_t>(edges[2 * i + 1], 0) <
        0)
      throw ArgumentError(fmt::format("pad({}, {}): more is cut from dimension {} than it has",
                                      tensor_text(x), shape_text({edges.begin(), edges.end()}), d));
  }
  return by_dimension;
}

void check_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  check_floating("scaled_dot_product_attention", q);
  const bool fits = q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2 && q.size(-1) == k.size(-1) &&
                    k.size(-2) == v.size(-2);
  if (!fits)
    throw ArgumentError(fmt::format(
        "scaled_dot_product_attention({}, {}, {}): queries are [.., rows, features], keys [.., "
        "columns, features], values [.., columns, any]",
        tensor_text(q), tensor_text(k), tensor_text(v)));
}

}  // namespace
}  // namespace graph

Tensor pad(const Tensor& x, std::vector<std::int64_t> edges, double value) {
  const std::vector<graph::Edges> by_dimension = graph::edges_of(x, edges);
  Tensor inner = x;
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    const auto [low, high] = by_dimension[static_cast<std::size_t>(d)];
    const std::int64_t first = low < 0 ? -low : 0;
    const std::int64_t last = x.size(d) - (high < 0 ? -high : 0);
    if (first > 0 || last < x.size(d)) inner = inner.slice(d, first, std::max(first, last));
    shape.push_back(x.size(d) + low + high);
  }
  if (graph::tracer_of(x) != nullptr) {
    for (int d = 0; d < x.rank(); ++d) {
      const auto [low, high] = by_dimension[static_cast<std::size_t>(d)];
      inner = graph::pad_dimension(inner, d, low, high, value);
    }
    return inner;
  }
  const Tensor out = full(std::move(shape), value, {x.dtype(), x.device()});
  Tensor middle = out;
  for (int d = 0; d < x.rank(); ++d) {
    const std::int64_t low =
        std::max<std::int64_t>(by_dimension[static_cast<std::size_t>(d)].low, 0);
    middle = middle.slice(d, low, low + inner.size(d));
  }
  if (inner.numel() > 0) middle.copy_from(inner);
  return out;
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  if (a.rank() != 3 || b.rank() != 3 || a.size(0) != b.size(0))
    throw ArgumentError(fmt::format("bmm({}, {}): both are stacks of as many matrices",
                                    graph::tensor_text(a), graph::tensor_text(b)));
  return matmul(a, b);
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask, const AttentionOptions& options) {
  graph::check_attention(q, k, v);
  if (mask.is_defined() && options.is_causal)
    throw ArgumentError(
        "scaled_dot_product_attention: a mask and is_causal were both given: put them into one "
        "mask");
  const double scale =
      options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  Tensor scores = matmul(q, k.transpose(-1, -2)) * scale;
  if (options.is_causal) {
    const TensorOptions places(DType::Int64, q.device());
    const Tensor row = arange(q.size(-2), places).unsqueeze(1), column = arange(k.size(-2), places);
    scores = where(row >= column, scores, -graph::infinity);
  } else if (mask.is_defined()) {
    scores = mask.dtype() == DType::Bool ? where(mask, scores, -graph::infinity) : scores + mask;
  }
  Tensor weights = mask.is_defined() ? graph::masked_softmax(scores) : softmax(scores);
  if (options.dropout > 0) weights = dropout(weights, options.dropout, options.seed);
  return matmul(weights, v);
}

}  // namespace tilewright
