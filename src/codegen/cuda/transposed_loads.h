// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/transposed_loads.h — loads whose neighbours in memory lie along another dimension
// than those of the stores that they end in. No layout gives both whole sectors, so that such a
// tile goes through shared memory once:
//   x = load a[i + j * n]; store b[i * n + j], f(x)
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// By value: results of such loads, whose readers should choose their own layout.
std::vector<bool> transposed_loads(const ir::Kernel& kernel);

}  // namespace tilewright
