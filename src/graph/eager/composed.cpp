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
Tensor padded_dimension(const Tensor& x, int d, std::int64_t low, std::int64_t high, double value) {
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
    const auto refuse = [&](const std::string& reason) {
      throw ArgumentError(fmt::format("pad({}, {}): {}", tensor_text(x),
                                      shape_text({edges.begin(), edges.end()}), reason));
    };
    const std::int64_t size = x.shape()[d], low = edges[2 * i], high = edges[2 * i + 1];
    const bool is_cut = low < -size || high < -size ||
                        size + std::min<std::int64_t>(low, 0) + std::min<std::int64_t>(high, 0) < 0;
    if (is_cut) refuse(fmt::format("more is cut from dimension {} than it has", d));
    std::int64_t total = 0;
    if (__builtin_add_overflow(size + std::min<std::int64_t>(low, 0),
                               std::max<std::int64_t>(low, 0), &total) ||
        __builtin_add_overflow(total, high, &total))
      refuse(fmt::format("the size of dimension {} does not fit 64 bits", d));
  }
  return by_dimension;
}

bool broadcasts_to(const Tensor& x, const Shape& shape) {
  if (x.shape().size() > shape.size()) return false;
  const std::size_t missing = shape.size() - x.shape().size();
  for (std::size_t d = 0; d < x.shape().size(); ++d)
    if (x.shape()[d] != 1 && x.shape()[d] != shape[missing + d]) return false;
  return true;
}

Shape batch_of(const Tensor& x) { return {x.shape().begin(), x.shape().end() - 2}; }

void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  constexpr std::string_view call = "scaled_dot_product_attention";
  check_floating(call, q);
  const auto refuse = [&](const std::string& reason) {
    throw ArgumentError(fmt::format("{}({}, {}, {}): {}", call, tensor_text(q), tensor_text(k),
                                    tensor_text(v), reason));
  };
  const bool fits = q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2 && q.size(-1) == k.size(-1) &&
                    k.size(-2) == v.size(-2);
  if (!fits)
    refuse(
        "queries are [.., rows, features], keys [.., columns, features], values [.., columns, "
        "any]");
  if (k.dtype() != q.dtype() || v.dtype() != q.dtype())
    refuse("all must have one dtype: convert with to()");
  if (!mask.is_defined()) return;
  if (mask.dtype() != DType::Bool && !is_floating(mask.dtype()))
    refuse(fmt::format("the mask {} must be bools or floats", tensor_text(mask)));
  Shape scores = broadcast_shapes(call, batch_of(q), batch_of(k));
  scores.insert(scores.end(), {q.size(-2), k.size(-2)});
  if (!broadcasts_to(mask, scores))
    refuse(fmt::format("the mask {} does not broadcast to the scores {}", tensor_text(mask),
                       shape_text(scores)));
}

}  // namespace

Tensor padded_or_view(const Tensor& x, std::span<const std::int64_t> edges, double value) {
  const std::vector<Edges> by_dimension = edges_of(x, edges);
  Tensor inner = x;
  Shape shape;
  bool is_longer = false;
  for (int d = 0; d < x.rank(); ++d) {
    const auto [low, high] = by_dimension[static_cast<std::size_t>(d)];
    const std::int64_t first = low < 0 ? -low : 0;
    const std::int64_t last = x.size(d) - (high < 0 ? -high : 0);
    if (first > 0 || last < x.size(d)) inner = inner.slice(d, first, std::max(first, last));
    shape.push_back(x.size(d) + low + high);
    is_longer |= low > 0 || high > 0;
  }
  if (!is_longer) return inner;
  if (tracer_of(x) != nullptr) {
    for (int d = 0; d < x.rank(); ++d) {
      const auto [low, high] = by_dimension[static_cast<std::size_t>(d)];
      inner = padded_dimension(inner, d, low, high, value);
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

}  // namespace graph

Tensor pad(const Tensor& x, std::vector<std::int64_t> edges, double value) {
  const Tensor made = graph::padded_or_view(x, edges, value);
  const bool is_longer = std::any_of(edges.begin(), edges.end(), [](auto n) { return n > 0; });
  return is_longer ? made : made.clone();
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  if (a.rank() != 3 || b.rank() != 3 || a.size(0) != b.size(0))
    throw ArgumentError(fmt::format("bmm({}, {}): both are stacks of as many matrices",
                                    graph::tensor_text(a), graph::tensor_text(b)));
  return matmul(a, b);
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask, const AttentionOptions& options) {
  graph::check_attention(q, k, v, mask);
  if (mask.is_defined() && options.is_causal)
    throw ArgumentError(
        "scaled_dot_product_attention: a mask and is_causal were both given: put them into one "
        "mask");
  const double scale =
      options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor across = k.transpose(-1, -2);
  // Scores that float16 has may have been beyond it before they were scaled; to scale them costs
  // nothing, to scale the queries a kernel.
  const bool scales_queries = q.dtype() == DType::Float16 && std::abs(scale) <= 1;
  Tensor scores = scales_queries ? matmul(q * scale, across) : matmul(q, across) * scale;
  if (options.is_causal) {
    const TensorOptions places(DType::Int64, q.device());
    const Tensor row = arange(q.size(-2), places).unsqueeze(1), column = arange(k.size(-2), places);
    scores = where(row >= column, scores, -graph::infinity);
  } else if (mask.is_defined()) {
    scores = mask.dtype() == DType::Bool ? where(mask, scores, -graph::infinity) : scores + mask;
  }
  Tensor weights = mask.is_defined() ? graph::masked_softmax(scores) : softmax(scores);
  if (options.dropout != 0) weights = dropout(weights, options.dropout, options.seed);
  return matmul(weights.to(v.dtype()), v);  // a mask may be of wider floats
}

}  // namespace tilewright
