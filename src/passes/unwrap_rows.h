// SPDX-License-Identifier: Apache-2.0
// passes/unwrap_rows.h — indices that wrap at a bound become plain ones where nobody sees what lies behind it.
//
// Kernels write `(pid * BLOCK + arange) % M` so that rows behind the last one read something harmless, and never store what they
// computed from it. Such an index has no formula. Where everything that is computed from the loaded rows ends in stores that are
// masked by the same bound, row for row, the load gets the mask instead: rows behind the bound are not read at all. The same for
// `where(x < M, x, 0)`.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void unwrap_rows(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
