// SPDX-License-Identifier: Apache-2.0
// test/unit/tensor/cpu_device.h — the device of nearly every test here, by a short name.
#pragma once

#include "tilewright/device.h"

namespace tilewright {

inline const Device cpu = Device::cpu();

}  // namespace tilewright
