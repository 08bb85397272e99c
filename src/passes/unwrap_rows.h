// SPDX-License-Identifier: Apache-2.0
// passes/unwrap_rows.h — indices that wrap at a bound become plain ones where nobody sees what lies
// behind it. Takes a kernel at the Source stage, before find_access_forms; for split_roles alone.
//
//   %at = rem %x, %M                          %in = compare lt %x, %M
//   %a = load a + %at * stride, mask    =>    %a = load a + %x * stride, mask and %in
//   store c, dot(%a, ..), %x < %M             store c, dot(%a, ..), %x < %M
//
// Kernels write `(pid * BLOCK + arange) % M` so that rows behind the last one read something
// harmless, and never store what they computed from it. Such an index has no formula. Where
// everything that is computed from the loaded rows ends in stores that are masked by the same
// bound, row for row, the load gets the mask instead: rows behind the bound are not read at all.
// The same for `where(x < M, x, 0)`.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void unwrap_rows(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
