// SPDX-License-Identifier: Apache-2.0
// graph/derive/any_view.cpp — lists of the places of a view that lie on each element.
#include "graph/derive/any_view.h"

#include "tensor/shape.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

// Of each element of the node one place of the view; `none` where there is no further one.
using Layer = std::vector<std::int64_t>;

std::vector<Layer> layers_of(const Shape& shape, const Shape& strides, std::int64_t offset,
                             std::int64_t elements) {
  const std::int64_t count = checked_numel(shape, 1), none = count;
  std::vector<Layer> layers;
  std::vector<std::size_t> used(static_cast<std::size_t>(elements), 0);
  Shape index(shape.size(), 0);
  std::int64_t at = offset;
  for (std::int64_t place = 0; place < count; ++place) {
    const std::size_t layer = used[static_cast<std::size_t>(at)]++;
    if (layer == layers.size()) layers.emplace_back(static_cast<std::size_t>(elements), none);
    layers[layer][static_cast<std::size_t>(at)] = place;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return layers;
}

}  // namespace

Tensor through_any_view(const Value& value, const Node& node, Tensor g) {
  Shape shape = value.shape;
  std::vector<int> repeated;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (value.strides[d] == 0 && shape[d] > 1) {
      repeated.push_back(static_cast<int>(d));
      shape[d] = 1;
    }
  if (!repeated.empty()) g = sum(g, repeated, true);
  const TensorOptions options(g.dtype(), g.device());
  const Tensor padded = cat({g.reshape({-1}), zeros({1}, options)});
  Tensor total;
  const std::int64_t elements = checked_numel(node.shape, 1);
  for (const Layer& layer : layers_of(shape, value.strides, value.offset, elements)) {
    const Tensor part = index_select(padded, 0, tensor(layer, {elements}, g.device()));
    total = total.is_defined() ? total + part : part;
  }
  return total.is_defined() ? total.view(node.shape) : zeros(node.shape, options);
}

}  // namespace tilewright::graph
