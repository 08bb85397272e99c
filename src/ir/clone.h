// SPDX-License-Identifier: Apache-2.0
// ir/clone.h — a copy of a kernel, for work that may have to be tried again.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// Values keep their numbers, types and names; ops that stand in no region are left out. The copy
// prints as the original does.
Kernel clone(const Kernel& kernel);

}  // namespace tilewright::ir
