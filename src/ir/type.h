// SPDX-License-Identifier: Apache-2.0
// ir/type.h — the type of a value: an element (a dtype or a pointer to one) and a power-of-two
// shape.
//
// Written f32, *f16, i32[64], *f32[16, 128]. A scalar has rank 0. An array of stage Final is
// written with the space that it lies in: f32@stack. Types are small values: compare
// and copy them freely.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/dtype.h"

namespace tilewright::ir {

// Where an array lies; a value that is none has no space.
enum class Space : std::uint8_t { None, Registers, Stack, Arena, Staging, Shared };

struct Type {
  static constexpr int max_rank =
      20;  // sorting networks reshape a tile of 2^20 elements to 2 x 2 x ... x 2

  DType dtype = DType::Int32;  // of the element, or of what it points to
  bool is_pointer = false;
  std::uint8_t rank = 0;
  std::array<std::uint8_t, max_rank> log_sizes{};  // size of dimension d is 2 to the log_sizes[d]
  Space space = Space::None;                       // of an array of such elements

  static Type scalar(DType dtype) { return {.dtype = dtype}; }
  static Type pointer(DType pointee) { return {.dtype = pointee, .is_pointer = true}; }
  // Throws InternalError when a size is not a power of two: front ends check what users write
  // before.
  static Type tile(DType dtype, const std::vector<std::int64_t>& shape);

  // An array of elements of type `element`.
  static Type array(const Type& element, Space space);

  bool is_array() const { return space != Space::None; }
  bool is_scalar() const { return rank == 0; }
  bool is_tile() const { return rank > 0; }
  bool is_bool() const { return !is_pointer && !is_array() && dtype == DType::Bool; }
  bool is_float() const { return !is_pointer && !is_array() && is_floating(dtype); }
  bool is_int() const { return !is_pointer && !is_array() && is_integer(dtype); }
  std::int64_t size(int dimension) const {
    return std::int64_t{1} << log_sizes[static_cast<std::size_t>(dimension)];
  }
  std::int64_t numel() const;
  std::vector<std::int64_t> shape() const;
  // Bytes of one element in memory: 8 for a pointer, 1 for a bool.
  std::size_t element_bytes() const { return is_pointer ? 8 : size_of(dtype); }

  Type with_shape_of(const Type& other) const;  // this element, that shape
  Type with_shape(const std::vector<std::int64_t>& shape) const;
  Type element() const { return with_shape_of(Type{}); }
  Type with_element(DType element_dtype) const;  // that element, this shape
  Type pointee() const;                          // of a pointer type, with its shape

  std::string to_string() const;
  friend bool operator==(const Type&, const Type&) = default;
};

bool same_shape(const Type& a, const Type& b);

// "f32[64]" -> Type; false when the text is not a type.
bool parse_type(std::string_view text, Type& out);
// The short names of the IR ("f32", "i1" is written b1).
std::string_view short_name_of(DType dtype);
// "stack"; empty for None.
std::string_view name_of(Space space);

}  // namespace tilewright::ir
