// SPDX-License-Identifier: Apache-2.0
// machine/cuda.h — targets of CUDA architectures.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tilewright/target.h"

namespace tilewright {

// Of shared memory that a block has without asking the launch for it.
inline constexpr std::int64_t most_static_bytes = 48 * 1024;

// Those that have a name, oldest first.
std::vector<Target> cuda_targets();

// Of a device with this compute capability whose code is made for `name` ("sm_90a").
FeatureSet cuda_features(std::string_view name, int major, int minor);

}  // namespace tilewright
