// SPDX-License-Identifier: Apache-2.0
// cli/check_strides.h — strides among a kernel's arguments that fit none of its tensors.
#pragma once

#include <vector>

#include "cli/kernel_arguments.h"
#include "ir/check/finding.h"

namespace tilewright::cli {

// Parameters with "stride" in their names, where every tensor has two dimensions or more: a value
// that is no stride of any tensor contradicts the shapes. 0 (a broadcast) and 1 always fit.
std::vector<ir::Finding> check_strides(const TritonKernel& kernel,
                                       const std::vector<NamedValue>& values);

}  // namespace tilewright::cli
