// SPDX-License-Identifier: Apache-2.0
// ir/roles.h — whether a kernel's warps have roles, and whether its blocks take several programs.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// The op that parts a kernel into roles; null: it has one.
const Op* producer_of(const Kernel& kernel);
// Whether blocks take one program after the other, and whether this is the loop in which they do.
bool is_persistent(const Kernel& kernel);
bool is_over_programs(const Kernel& kernel, const Op& loop);

}  // namespace tilewright::ir
