// SPDX-License-Identifier: Apache-2.0
// cli/check_cuda.h — `tilewright check FILE.cu:KERNEL`: a launch in the checked emulation.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.h"
#include "codegen/device_lib/emulate/faults.h"
#include "ir/check/finding.h"

namespace tilewright::cli {

// What the emulation says of a kernel of the file at `path`, as findings, each once. `barrier` is what the kernel's language calls
// one: __syncthreads.
std::vector<ir::Finding> findings_of_emulation(const std::string& path, const std::string& kernel,
                                               const std::vector<CollectedFault>& faults,
                                               const std::string& barrier);

void check_cuda(const CheckVerbOptions& options);

}  // namespace tilewright::cli
