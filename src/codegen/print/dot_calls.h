// SPDX-License-Identifier: Apache-2.0
// codegen/print/dot_calls.h — calls in which the lanes of a warp multiply matrices, as CUDA C++.
#pragma once

#include <string>

#include "codegen/print/expressions.h"

namespace tilewright {

// "tw::load_matrices<4>(a_part, a_shared + a_at);", "tw::mma_f16(sums, a_part, b_part);"
std::string dot_call(const ExpressionPrinter& expressions, const ir::Op& op);

}  // namespace tilewright
