// SPDX-License-Identifier: Apache-2.0
// cli/check_numba.h — `tilewright check FILE.py:KERNEL` for a @cuda.jit kernel: a launch in the
// checked emulation.
#pragma once

#include "cli/verbs.h"

namespace tilewright::cli {

void check_numba(const CheckVerbOptions& options);

}  // namespace tilewright::cli
