// SPDX-License-Identifier: Apache-2.0
// frontend/numba/externals.h — names of Numba, NumPy and math.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tilewright/dtype.h"

namespace tilewright::numba {

// "numba.cuda.grid" => "cuda.grid"; also from "numba.cuda.stubs" and the like.
std::string without_package(std::string_view name);
// numpy.float32, numba.int32, numba.types.uint8, float: what a call of it converts to.
std::optional<DType> dtype_named(std::string_view name);
// complex64, complex128: numbers of kernels, never elements of arrays.
bool is_complex_name(std::string_view name);
inline constexpr const char* no_complex_arrays =
    "arrays of complex numbers are not supported; use one array for the real parts and one for the "
    "imaginary parts";
// math.pi, numpy.inf.
std::optional<double> number_named(std::string_view name);
bool is_number(std::string_view text);

}  // namespace tilewright::numba
