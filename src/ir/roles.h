// SPDX-License-Identifier: Apache-2.0
// ir/roles.h — whether a kernel's warps have roles, and whether its blocks take several programs.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// The op that parts a kernel into roles; null: it has one.
const Op* producer_of(const Kernel& kernel);
// Whether blocks take one program after the other.
bool is_persistent(const Kernel& kernel);

}  // namespace tilewright::ir
