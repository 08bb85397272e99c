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
// math.pi, numpy.inf.
std::optional<double> number_named(std::string_view name);
bool is_number(std::string_view text);

}  // namespace tilewright::numba
