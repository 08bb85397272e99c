// SPDX-License-Identifier: Apache-2.0
// tensor/element_types.h — from a DType to its type in tensor/device/element.h: in C++ and by name
// in CUDA text.
#pragma once

#include <string_view>

#include "base/check.h"
#include "tensor/device/element.h"
#include "tilewright/dtype.h"

namespace tilewright {

// Calls `run.template operator()<T>()` with the element type of `dtype`.
template <class Run>
auto with_element_type(DType dtype, const Run& run) {
  switch (dtype) {
    case DType::Float64:
      return run.template operator()<double>();
    case DType::Float32:
      return run.template operator()<float>();
    case DType::Float16:
      return run.template operator()<element::Float16>();
    case DType::BFloat16:
      return run.template operator()<element::BFloat16>();
    case DType::Float8E4M3:
      return run.template operator()<element::Float8E4M3>();
    case DType::Float8E5M2:
      return run.template operator()<element::Float8E5M2>();
    case DType::Int8:
      return run.template operator()<signed char>();
    case DType::Int16:
      return run.template operator()<short>();
    case DType::Int32:
      return run.template operator()<int>();
    case DType::Int64:
      return run.template operator()<long long>();
    case DType::UInt8:
      return run.template operator()<unsigned char>();
    case DType::UInt16:
      return run.template operator()<unsigned short>();
    case DType::UInt32:
      return run.template operator()<unsigned int>();
    case DType::UInt64:
      return run.template operator()<unsigned long long>();
    case DType::Bool:
      return run.template operator()<element::Bool>();
  }
  TW_UNREACHABLE("dtype {}", static_cast<int>(dtype));
}

// The same type as CUDA text, for name expressions.
std::string_view element_type_name(DType dtype);

}  // namespace tilewright
