// SPDX-License-Identifier: Apache-2.0
// runtime/module_key.h — the content of a KernelSource as a hash: equal keys mean equal code,
// signatures and plans.
#pragma once

#include "base/hash.h"
#include "tilewright/kernel_source.h"

namespace tilewright {

Hash128 module_key(const KernelSource& source);

}  // namespace tilewright
