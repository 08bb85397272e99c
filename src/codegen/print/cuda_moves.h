// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_moves.h — what goes between memory and arrays, as a call of
// device_lib/cuda/memory.cuh and its like.
#pragma once

#include <string>

#include "codegen/print/cuda_expressions.h"

namespace tilewright {

// Of an element that is stored, a vector, or a copy that runs ahead.
std::string move_text(const CudaExpressions& expressions, const ir::Kernel& kernel,
                      const ir::Op& op);

}  // namespace tilewright
