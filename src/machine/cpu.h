// SPDX-License-Identifier: Apache-2.0
// machine/cpu.h — targets of CPUs.
#pragma once

#include "tilewright/target.h"

namespace tilewright {

// With the caches and cores of this machine, but the instructions that are named.
Target cpu_target(bool avx512);
// The CPU that this process runs on.
Target detect_cpu();

}  // namespace tilewright
