// SPDX-License-Identifier: Apache-2.0
// compiler/triton/signature.h — the types of a kernel's parameters as text, in the manner of Triton's own
// ahead-of-time tool.
//
//   *fp32:16, *fp32, i32:16, i32, 1024        by position
//   *fp32:16, *fp32, n=i32, BLOCK=1024        or by name, after those by position
//
// `*fp32` is a pointer, `*kfp32` one that is only read; `:16` promises a multiple of 16, `:1` is
// the constant 1; anything else is a constant (64, 1e-5, true, none, 'ieee', fp32 for a
// tl.constexpr).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "compiler/triton/parameters.h"
#include "frontend/triton/lower.h"

namespace tilewright {

using TritonSignature = std::map<std::string, triton::ParameterType>;

// Throws ArgumentError that names the item, what it should be, and the parameter. A parameter with
// a default may be left out.
TritonSignature parse_signature(std::string_view kernel,
                                std::span<const TritonParameter> parameters, std::string_view text);

std::string signature_item(const triton::ParameterType& type);
// All parameters that the signature holds, in the kernel's order.
std::string signature_text(std::span<const TritonParameter> parameters,
                           const TritonSignature& signature);

triton::ParameterType constant_parameter(triton::Value value);
triton::ParameterType pointer_parameter(DType dtype, int divisible = 1, bool is_const = false);
triton::ParameterType scalar_parameter(DType dtype, int divisible = 1);

}  // namespace tilewright
