// SPDX-License-Identifier: Apache-2.0
// tensor/shape.h — arithmetic of sizes and strides: everything about a tensor that needs no memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/tensor.h"

namespace tilewright {

std::string shape_text(const Shape& shape);  // "[2, 3]"

// The number of elements. Throws ArgumentError on a negative size, or when the bytes of the sizes
// that are not 0 multiply to more than 64 bits hold: later products of sizes, strides and element
// sizes then cannot overflow.
std::int64_t checked_numel(const Shape& shape, std::size_t element_bytes);

Shape contiguous_strides(const Shape& shape);
// Strides of sizes 0 and 1 do not matter, and nothing matters without elements.
bool is_contiguous(const Shape& shape, const Shape& strides);

// A dimension from 0 to rank - 1; negative ones count from the end. Throws ArgumentError.
int wrap_dimension(int dimension, int rank);

// The lowest and the highest offset of an element from the first one, in elements; both 0 without
// elements. Throws ArgumentError when they do not fit 64 bits (times `element_bytes`).
struct Reach {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
Reach reach_of(const Shape& shape, const Shape& strides, std::size_t element_bytes);

// `shape` with its -1 replaced by what `numel` elements leave for it. Throws ArgumentError when
// they do not fit.
Shape resolve_shape(Shape shape, std::int64_t numel);
// The strides with which the same elements have `new_shape` (same element count); nothing when that
// needs a copy.
std::optional<Shape> view_strides(const Shape& shape, const Shape& strides, const Shape& new_shape);
// The strides with which a tensor repeats itself to `new_shape`. Throws ArgumentError when the
// sizes do not fit.
Shape broadcast_strides(const Shape& shape, const Shape& strides, const Shape& new_shape);

}  // namespace tilewright
