// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/fill.h — repeats a small pattern over device memory.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/cuda/driver_api.h"

namespace tilewright::cuda {

// `pattern` has 1, 2, 4 or 8 bytes; `bytes` is a multiple of that and `destination` aligned to it.
// The device's context must be current.
void fill_memory(CUdeviceptr destination, std::size_t bytes, std::span<const std::byte> pattern,
                 CUstream stream);

}  // namespace tilewright::cuda
