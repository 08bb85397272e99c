// SPDX-License-Identifier: Apache-2.0
// cli/scalar_types.h — numbers of a given type: n=5:i64, alpha=0.5:f64.
#pragma once

#include <optional>
#include <string>

#include "tilewright/triton.h"

namespace tilewright::cli {

// "5:i64" => 5 and int64; empty for what is no number with a type. Throws ArgumentError for a
// number that the type cannot hold.
struct TypedNumber {
  std::string text;
  DType dtype;
};
std::optional<TypedNumber> typed_number(const std::string& name, const std::string& text);

// Takes ":i64" off the number and lets the kernel's parameter have that type, as the annotation
// `n: tl.int64` would. The text itself when it is no number with a type. Throws ArgumentError for a
// tl.constexpr, which has no type, and for a number that the type cannot hold.
std::string take_scalar_type(const TritonKernel& kernel, const std::string& name,
                             const std::string& text);

}  // namespace tilewright::cli
