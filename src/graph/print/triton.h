// SPDX-License-Identifier: Apache-2.0
// graph/print/triton.h — a kernel of the tile IR as Triton source, for readers and for Triton
// itself.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace tilewright::graph {

// The source of a kernel at stage Source that lowering has made, with what it needs: combining
// functions of its reductions before it. Without imports (`triton_imports`). Throws InternalError
// for an op that lowering does not make.
std::string to_triton(const ir::Kernel& kernel);
std::string triton_imports();

}  // namespace tilewright::graph
