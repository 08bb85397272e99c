// SPDX-License-Identifier: Apache-2.0
// tensor/views.cpp — tensors that share another's memory with other sizes, strides or offset.
#include <algorithm>

#include <fmt/format.h>

#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {

// Python's begin:end:step. An index below the first or beyond the last element means the end of the
// row on that side, which for a negative step is the place before the first element.
Tensor Tensor::slice(int dimension, std::int64_t begin, std::int64_t end, std::int64_t step) const {
  const int d = wrap_dimension(dimension, rank());
  if (step == 0) throw ArgumentError("a slice needs a step that is not 0");
  const std::int64_t count = shape()[d];
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? count : count - 1;
  const auto place = [&](std::int64_t index) {
    return std::clamp(index < 0 ? index + count : index, lowest, highest);
  };
  const std::int64_t first = place(begin);
  const std::int64_t last = place(end);
  const std::int64_t distance = step > 0 ? last - first : first - last;
  // In unsigned numbers, since the smallest step has no positive counterpart.
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  Shape sizes = shape();
  Shape steps = strides();
  sizes[d] =
      distance <= 0
          ? 0
          : static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / stride) + 1;
  const std::int64_t moved = sizes[d] == 0 ? 0 : first * steps[d];
  if (sizes[d] > 1) steps[d] *= step;
  return with_layout(std::move(sizes), std::move(steps), offset() + moved);
}

Tensor Tensor::select(int dimension, std::int64_t index) const {
  const int d = wrap_dimension(dimension, rank());
  const std::int64_t count = shape()[d];
  if (index < -count || index >= count)
    throw ArgumentError(
        fmt::format("index {} is out of range for dimension {} of size {} of a tensor of shape {}",
                    index, d, count, shape_text(shape())));
  Shape sizes = shape();
  Shape steps = strides();
  const std::int64_t moved = (index < 0 ? index + count : index) * steps[d];
  sizes.erase(sizes.begin() + d);
  steps.erase(steps.begin() + d);
  return with_layout(std::move(sizes), std::move(steps), offset() + moved);
}

Tensor Tensor::transpose(int a, int b) const {
  Shape sizes = shape();
  Shape steps = strides();
  const int first = wrap_dimension(a, rank());
  const int second = wrap_dimension(b, rank());
  std::swap(sizes[first], sizes[second]);
  std::swap(steps[first], steps[second]);
  return with_layout(std::move(sizes), std::move(steps), offset());
}

Tensor Tensor::permute(std::vector<int> order) const {
  const Shape given(order.begin(), order.end());
  Shape sizes, steps;
  std::vector<bool> is_used(static_cast<std::size_t>(rank()), false);
  bool is_valid = static_cast<int>(order.size()) == rank();
  for (std::size_t i = 0; i < order.size() && is_valid; ++i) {
    const int d = wrap_dimension(order[i], rank());
    is_valid = !is_used[d];
    is_used[d] = true;
    sizes.push_back(shape()[d]);
    steps.push_back(strides()[d]);
  }
  if (!is_valid)
    throw ArgumentError(fmt::format(
        "permute({}) of a tensor of rank {}: every dimension must be named exactly once",
        shape_text(given), rank()));
  return with_layout(std::move(sizes), std::move(steps), offset());
}

Tensor Tensor::unsqueeze(int dimension) const {
  const int d = wrap_dimension(dimension, rank() + 1);
  Shape sizes = shape();
  Shape steps = strides();
  // Any stride is right for a size of 1; this one keeps neighbours mergeable.
  std::int64_t stride = 1;
  if (d < rank() && __builtin_mul_overflow(steps[d], sizes[d], &stride)) stride = 1;
  sizes.insert(sizes.begin() + d, 1);
  steps.insert(steps.begin() + d, stride);
  return with_layout(std::move(sizes), std::move(steps), offset());
}

Tensor Tensor::squeeze(int dimension) const {
  const int d = wrap_dimension(dimension, rank());
  if (shape()[d] != 1)
    throw ArgumentError(fmt::format(
        "dimension {} of a tensor of shape {} has size {}: only one of size 1 can be squeezed", d,
        shape_text(shape()), shape()[d]));
  return select(d, 0);
}

Tensor Tensor::broadcast_to(Shape new_shape) const {
  checked_numel(new_shape, size_of(dtype()));
  Shape steps = broadcast_strides(shape(), strides(), new_shape);
  return with_layout(std::move(new_shape), std::move(steps), offset());
}

Tensor Tensor::view(Shape new_shape) const {
  Shape sizes = resolve_shape(std::move(new_shape), numel());
  std::optional<Shape> steps = view_strides(shape(), strides(), sizes);
  if (!steps)
    throw ArgumentError(fmt::format(
        "a tensor of shape {} and strides {} has no view of shape {}: use reshape, which copies",
        shape_text(shape()), shape_text(strides()), shape_text(sizes)));
  return with_layout(std::move(sizes), std::move(*steps), offset());
}

Tensor Tensor::reshape(Shape new_shape) const {
  Shape sizes = resolve_shape(std::move(new_shape), numel());
  std::optional<Shape> steps = view_strides(shape(), strides(), sizes);
  if (!steps) return clone().view(std::move(sizes));
  return with_layout(std::move(sizes), std::move(*steps), offset());
}

}  // namespace tilewright
