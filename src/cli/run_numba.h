// SPDX-License-Identifier: Apache-2.0
// cli/run_numba.h — `tilewright run` for kernels in thread-level Python (@cuda.jit).
#pragma once

#include <string>

#include "cli/verbs.h"

namespace tilewright::cli {

// FILE.py or FILE.py:KERNEL whose kernel (any, when none is named) is decorated with @cuda.jit.
bool is_numba_path(const std::string& path);

void run_numba(const RunVerbOptions& options);

}  // namespace tilewright::cli
