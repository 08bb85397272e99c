// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/tensor_map.h — tensor maps for emulated kernels: what they are made from, in the
// open.
#pragma once

#include "runtime/backend.h"

namespace tilewright {

// The same 128 bytes that device_lib/emulate/cuda/ring.cuh reads.
void encode_emulated_map(const TensorMapRequest& request, TensorMap& map);

}  // namespace tilewright
