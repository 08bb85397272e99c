// SPDX-License-Identifier: Apache-2.0
// tensor/shape.cpp — checked products, strides of views, broadcasting.
#include "tensor/shape.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/error.h"

namespace tilewright {

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::int64_t checked_numel(const Shape& shape, std::size_t element_bytes) {
  std::int64_t bytes = static_cast<std::int64_t>(element_bytes), count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0)
      throw ArgumentError(fmt::format("shape {} has the negative size {}: sizes are 0 or more",
                                      shape_text(shape), size));
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
      throw ArgumentError(
          fmt::format("shape {} is too large: its bytes do not fit 64 bits", shape_text(shape)));
    count *= size;  // no more than the bytes
  }
  return count;
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t stride = 1;
  for (std::int64_t* size = strides.end(); size != strides.begin();) {
    --size;
    stride *= std::max<std::int64_t>(std::exchange(*size, stride), 1);
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  bool is_row_major = true;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] == 1) continue;
    is_row_major &= strides[d] == expected;
    expected *= shape[d];
  }
  return is_row_major;
}

int wrap_dimension(int dimension, int rank) {
  if (dimension < -rank || dimension >= rank)
    throw ArgumentError(
        fmt::format("dimension {} is out of range for a tensor of rank {}", dimension, rank));
  return dimension < 0 ? dimension + rank : dimension;
}

Reach reach_of(const Shape& shape, const Shape& strides, std::size_t element_bytes) {
  Reach reach;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return reach;
  const std::int64_t limit =
      std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(element_bytes) - 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t distance = 0;
    std::int64_t& side = strides[d] < 0 ? reach.low : reach.high;
    const bool overflows = __builtin_mul_overflow(shape[d] - 1, strides[d], &distance) ||
                           __builtin_add_overflow(side, distance, &side) || side > limit ||
                           side < -limit;
    if (overflows)
      throw ArgumentError(
          fmt::format("strides {} with shape {} reach further than 64 bits can address",
                      shape_text(strides), shape_text(shape)));
  }
  return reach;
}

Shape resolve_shape(Shape shape, std::int64_t numel) {
  std::int64_t* open = nullptr;
  for (std::int64_t& size : shape) {
    if (size != -1) continue;
    if (open != nullptr) {
      *open = -1;
      throw ArgumentError(fmt::format(
          "shape {} has more than one -1: at most one size can be left open", shape_text(shape)));
    }
    open = &size;
    size = 1;
  }
  const std::int64_t known = checked_numel(shape, 1);
  if (open != nullptr && known != 0 && numel % known == 0) {
    *open = numel / known;
  } else if (open != nullptr || known != numel) {
    if (open != nullptr) *open = -1;
    throw ArgumentError(
        fmt::format("shape {} does not fit a tensor of {} elements", shape_text(shape), numel));
  }
  return shape;
}

// Old dimensions are grouped into the longest runs that lie evenly in memory; each run must then be
// a product of consecutive new sizes.
std::optional<Shape> view_strides(const Shape& shape, const Shape& strides,
                                  const Shape& new_shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return contiguous_strides(new_shape);
  Shape out(new_shape.size());
  std::size_t next = new_shape.size();
  std::int64_t run_stride = 1;
  std::int64_t run_size = 1;
  std::int64_t taken = 1;
  const auto take_run = [&] {
    while (next > 0 && (taken < run_size || new_shape[next - 1] == 1)) {
      --next;
      out[next] = taken * run_stride;
      taken *= new_shape[next];
    }
    return taken == run_size;
  };
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (run_size > 1 && strides[d] == run_size * run_stride) {
      run_size *= shape[d];
      continue;
    }
    if (!take_run()) return std::nullopt;
    run_stride = strides[d];
    run_size = shape[d];
    taken = 1;
  }
  if (!take_run()) return std::nullopt;
  return out;
}

Shape broadcast_strides(const Shape& shape, const Shape& strides, const Shape& new_shape) {
  const auto fail = [&] {
    throw ArgumentError(fmt::format(
        "shape {} cannot be broadcast to {}: sizes must be equal or 1, counted from the end",
        shape_text(shape), shape_text(new_shape)));
  };
  if (shape.size() > new_shape.size()) fail();
  const std::size_t added = new_shape.size() - shape.size();
  Shape out(new_shape.size(), 0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == new_shape[added + d]) out[added + d] = strides[d];
    else if (shape[d] != 1) fail();
  }
  return out;
}

}  // namespace tilewright
