// SPDX-License-Identifier: Apache-2.0
// graph/derive/derive.cpp — the walk back through a graph, and derivatives through views.
#include "graph/derive/derive.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/derive/any_view.h"
#include "graph/eager/eager.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

// What was repeated is summed.
Tensor summed_to(Tensor g, const Shape& shape) {
  std::vector<int> leading, repeated;
  const int missing = g.rank() - static_cast<int>(shape.size());
  for (int d = 0; d < missing; ++d) leading.push_back(d);
  if (!leading.empty()) g = sum(g, leading);
  for (int d = 0; d < g.rank(); ++d)
    if (shape[static_cast<std::size_t>(d)] == 1 && g.size(d) != 1) repeated.push_back(d);
  return repeated.empty() ? g : sum(g, repeated, true);
}

class Derive {
 public:
  Derive(Tracer& tracer, std::span<const Tensor> by) : tracer_(tracer) {
    const std::size_t count = tracer.graph.nodes.size();
    is_needed_.assign(count, false);
    made_.resize(count);
    std::size_t first = count;
    for (const Tensor& tensor : by) {
      const auto node = static_cast<std::size_t>(tracer.value_of(tensor).node);
      is_needed_[node] = true;
      first = std::min(first, node);
    }
    for (std::size_t i = first; i < count; ++i)
      for (const Value& value : tracer.graph.nodes[i].operands)
        if (is_needed(value) && is_smooth(static_cast<int>(i))) is_needed_[i] = true;
  }

  std::vector<Tensor> run(const Tensor& value, std::span<const Tensor> by) {
    const Value from = tracer_.value_of(value);
    add(from, ones(value.shape(), {value.dtype(), value.device()}));
    for (int i = from.node; i >= 0; --i)
      if (is_needed_[static_cast<std::size_t>(i)] && made_at(i).is_defined()) derive_from(i);
    check_reached(from.node, by);
    std::vector<Tensor> results;
    for (const Tensor& tensor : by) {
      const Tensor& made = made_at(tracer_.value_of(tensor).node);
      results.push_back(made.is_defined()
                            ? tracer_.separate(made)
                            : zeros(tensor.shape(), {tensor.dtype(), tensor.device()}));
    }
    return results;
  }

 private:
  bool is_needed(const Value& value) const {
    return !value.is_number() && is_needed_[static_cast<std::size_t>(value.node)];
  }
  Tensor& made_at(int i) { return made_[static_cast<std::size_t>(i)]; }
  const Tensor& made_at(int i) const { return made_[static_cast<std::size_t>(i)]; }
  bool is_smooth(int i) const {
    return is_floating(tracer_.graph.nodes[static_cast<std::size_t>(i)].dtype);
  }

  // A value that hangs on what it is differentiated by, but through integers alone, has no
  // derivative; zeros would hide that.
  void check_reached(int value, std::span<const Tensor> by) const {
    for (const Tensor& tensor : by)
      if (made_at(tracer_.value_of(tensor).node).is_defined()) return;
    const NodeList& nodes = tracer_.graph.nodes;
    for (const Tensor& tensor : by) {
      std::set<int> reached = {tracer_.value_of(tensor).node};
      int through = -1;  // the first node that is none of floats
      for (int i = *reached.begin() + 1; i <= value; ++i)
        for (const Value& operand : nodes[static_cast<std::size_t>(i)].operands)
          if (!operand.is_number() && reached.contains(operand.node)) {
            reached.insert(i);
            if (through < 0 && !is_smooth(i)) through = i;
          }
      if (through >= 0 && reached.contains(value))
        throw ArgumentError(
            fmt::format("the value depends on a {} only through {}, which has no derivative",
                        tensor_text(tensor), node_name(nodes[static_cast<std::size_t>(through)])));
    }
  }

  Tensor tensor_at(const Value& value) const {
    return value.is_number() ? Tensor() : tracer_.tensor_of(value);
  }

  void derive_from(int i) {
    const Values& read = tracer_.graph.nodes[static_cast<std::size_t>(i)].operands;
    if (std::none_of(read.begin(), read.end(), [&](const Value& v) { return is_needed(v); }))
      return;
    const Node& node = tracer_.graph.nodes[static_cast<std::size_t>(i)];
    Derivation d{.node = node, .out = tracer_.tensor_of(i), .g = made_at(i)};
    for (const Value& value : node.operands) d.in.push_back(tensor_at(value));
    const std::vector<Tensor> by_operand = derive_node(d);
    for (std::size_t o = 0; o < by_operand.size(); ++o) {
      const Value& value = node.operands[o];
      if (by_operand[o].is_defined() && is_needed(value)) add(value, by_operand[o]);
    }
  }

  // Adds the derivative by a view to that by its node.
  void add(const Value& value, const Tensor& by_view) {
    Tensor g = summed_to(by_view, value.shape);
    if (!is_whole(value)) {
      const Node& node = tracer_.graph.nodes[static_cast<std::size_t>(value.node)];
      g = through_view(value, node, g);
    }
    const DType dtype = tracer_.graph.nodes[static_cast<std::size_t>(value.node)].dtype;
    if (g.dtype() != dtype) g = to(g, dtype);
    Tensor& made = made_at(value.node);
    made = made.is_defined() ? made + g : g;
  }

  bool is_whole(const Value& value) const {
    const Node& node = tracer_.graph.nodes[static_cast<std::size_t>(value.node)];
    return value.offset == 0 && value.shape == node.shape && value.strides == node.strides;
  }

  Tensor through_view(const Value& value, const Node& node, const Tensor& g) {
    if (const std::optional<Tensor> found = through_permuted(value, node, g)) return *found;
    if (value.offset == 0 && value.strides == contiguous_strides(value.shape) &&
        g.numel() == checked_numel(node.shape, 1))
      return g.reshape(node.shape);
    if (const std::optional<Tensor> found = through_slice(value, node, g)) return *found;
    if (node.strides == contiguous_strides(node.shape)) return through_any_view(value, node, g);
    throw ArgumentError(fmt::format(
        "there is no derivative through a view of shape {} and strides {} of a tensor of shape {}: "
        "take it apart into slices, transposes and reshapes of whole tensors",
        shape_text(value.shape), shape_text(value.strides), shape_text(node.shape)));
  }

  // Dimensions in another order, added or repeated.
  static std::optional<Tensor> through_permuted(const Value& value, const Node& node, Tensor g) {
    if (value.offset != 0) return std::nullopt;
    std::vector<int> order, rest;
    std::vector<bool> is_used(value.shape.size(), false);
    for (std::size_t p = 0; p < node.shape.size(); ++p) {
      if (node.shape[p] == 1) continue;
      std::size_t s = 0;
      while (s < value.shape.size() && !(value.strides[s] == node.strides[p] &&
                                         value.shape[s] == node.shape[p] && !is_used[s]))
        ++s;
      if (s == value.shape.size()) return std::nullopt;
      is_used[s] = true;
      order.push_back(static_cast<int>(s));
    }
    std::vector<int> repeated;
    for (std::size_t s = 0; s < value.shape.size(); ++s) {
      if (is_used[s]) continue;
      if (value.shape[s] != 1 && value.strides[s] != 0) return std::nullopt;
      if (value.shape[s] != 1) repeated.push_back(static_cast<int>(s));
      rest.push_back(static_cast<int>(s));
    }
    if (!repeated.empty()) g = sum(g, repeated, true);
    order.insert(order.end(), rest.begin(), rest.end());
    return g.permute(order).reshape(node.shape);
  }

  // A part of each dimension in steps of one, or one index of it.
  static std::optional<Tensor> through_slice(const Value& value, const Node& node, Tensor g) {
    std::size_t s = 0;
    for (std::size_t p = 0; p < node.shape.size(); ++p) {
      const bool is_kept = s < value.shape.size() && value.strides[s] == node.strides[p] &&
                           value.shape[s] <= node.shape[p];
      if (is_kept) ++s;
      else g = g.unsqueeze(static_cast<int>(p));  // one index was selected
    }
    if (s != value.shape.size()) return std::nullopt;
    std::int64_t left = value.offset;
    for (std::size_t d = 0; d < node.shape.size(); ++d) {
      const std::int64_t before = left / node.strides[d];
      left -= before * node.strides[d];
      const std::int64_t after = node.shape[d] - before - g.shape()[d];
      if (before < 0 || after < 0) return std::nullopt;
      const auto padding = [&](std::int64_t count) {
        Shape shape = g.shape();
        shape[d] = count;
        return zeros(std::move(shape), {g.dtype(), g.device()});
      };
      std::vector<Tensor> parts;
      if (before > 0) parts.push_back(padding(before));
      parts.push_back(g);
      if (after > 0) parts.push_back(padding(after));
      if (parts.size() > 1) g = cat(parts, static_cast<int>(d));
    }
    return g;
  }

  Tracer& tracer_;
  // Of the nodes that were there before.
  std::vector<bool> is_needed_;  // depends on what is differentiated by
  std::vector<Tensor> made_;     // the derivative by it; undefined where there is none yet
};

}  // namespace

std::vector<Tensor> derive(Tracer& tracer, const Tensor& value, std::span<const Tensor> by) {
  return Derive(tracer, by).run(value, by);
}

}  // namespace tilewright::graph

namespace tilewright::compiled {

bool is_tracing_now() { return graph::Tracer::current() != nullptr; }

Tensor begin_derivative(const Tensor& tensor) {
  if (!is_floating(tensor.dtype()))
    throw ArgumentError(fmt::format(
        "{} cannot be differentiated by: only floats can; pass it behind the first argument",
        graph::tensor_text(tensor)));
  return graph::Tracer::current()->begin_derivative(tensor);
}

std::vector<Tensor> derivatives(const Tensor& value, std::span<const Tensor> by) {
  if (value.numel() != 1 || !is_floating(value.dtype()))
    throw ArgumentError(fmt::format(
        "a function that is differentiated gives one float, not {}: take its sum or mean",
        graph::tensor_text(value)));
  graph::Tracer& tracer = *graph::Tracer::current();
  if (!traced_of(value)) {  // a constant
    std::vector<Tensor> nothing;
    for (const Tensor& tensor : by)
      nothing.push_back(zeros(tensor.shape(), {tensor.dtype(), tensor.device()}));
    return nothing;
  }
  return graph::derive(tracer, value, by);
}

}  // namespace tilewright::compiled
