// SPDX-License-Identifier: Apache-2.0
// machine/cuda.h — targets of CUDA architectures.
#pragma once

#include <string_view>
#include <vector>

#include "tilewright/target.h"

namespace tilewright {

// Those that have a name, oldest first.
std::vector<Target> cuda_targets();

// Of a device with this compute capability whose code is made for `name` ("sm_90a").
FeatureSet cuda_features(std::string_view name, int major, int minor);

}  // namespace tilewright
