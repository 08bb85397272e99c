// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/tensor_map.h — TMA descriptors.
#pragma once

#include "runtime/backend.h"

namespace tilewright::cuda {

// Throws ArgumentError that names what TMA does not take. Needs no context.
void encode_tensor_map(const TensorMapRequest& request, TensorMap& map);

}  // namespace tilewright::cuda
