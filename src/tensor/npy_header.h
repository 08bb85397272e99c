// SPDX-License-Identifier: Apache-2.0
// tensor/npy_header.h — the header of a .npy file: a Python dictionary with the dtype, the order
// and the shape.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/tensor.h"

namespace tilewright {

struct NpyHeader {
  DType dtype = DType::Float32;
  bool is_fortran_order = false;
  Shape shape;
};

// Reads the dictionary. Throws FormatError, which names `path`, for anything but the three known
// keys with values that have a dtype of ours. Sizes fit 64 bits; their product is not looked at.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

// Everything that stands before the data, padded so that the data is 64-byte aligned. Throws
// ArgumentError for a dtype that NumPy lacks.
std::string npy_preamble(DType dtype, const Shape& shape);

}  // namespace tilewright
