// SPDX-License-Identifier: Apache-2.0
// passes/laid/only_elements.h — elements of tiles that become scalars (`tl.reshape(tile, ())`, the
// halves of two elements): found by reductions, which have their place among the accesses to memory
// and the changes of tiles, as a view has not.
#pragma once

#include "ir/kernel.h"

namespace tilewright {

bool has_only_elements(const ir::Kernel& kernel);

// Values keep their numbers. Pointers stay as they are.
void reduce_only_elements(ir::Kernel& kernel);

}  // namespace tilewright
