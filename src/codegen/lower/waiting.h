// SPDX-License-Identifier: Apache-2.0
// codegen/lower/waiting.h — loops that wait for another program.
#pragma once

#include "ir/kernel.h"

namespace tilewright {

// Whether a `while` looks at memory with an atomic or a volatile load, or at one place again and
// again.
bool is_waiting(const ir::Kernel& kernel, const ir::Op& loop);

}  // namespace tilewright
