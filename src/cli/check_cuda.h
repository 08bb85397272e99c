// SPDX-License-Identifier: Apache-2.0
// cli/check_cuda.h — `tilewright check FILE.cu:KERNEL`: a launch in the checked emulation.
#pragma once

#include "cli/verbs.h"

namespace tilewright::cli {

void check_cuda(const CheckVerbOptions& options);

}  // namespace tilewright::cli
