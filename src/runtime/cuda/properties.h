// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/properties.h — a GPU's numbers, from the driver.
#pragma once

#include "tilewright/device.h"

namespace tilewright::cuda {

// Needs no context: asking costs microseconds and takes no device memory.
DeviceProperties read_properties(int device);

}  // namespace tilewright::cuda
