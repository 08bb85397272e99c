// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/inline_asm.h — the PTX of a kernel's author as device functions.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace tilewright {

// One function for each different `inline_asm` op, under the name that the op has:
//   __device__ __forceinline__ f32 inline_asm_12ab(f32 a) {
//     unsigned result;
//     asm("ex2.approx.f32 %0, %1;" : "=r"(result) : "r"(__float_as_uint(a)));
//     return __uint_as_float(result);
//   }
std::string inline_asm_functions(const ir::Kernel& kernel);

}  // namespace tilewright
