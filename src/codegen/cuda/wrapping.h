// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/wrapping.h — which signed integers may overflow with a meaning.
//
// The IR wraps. C++ does not, and NVRTC has no option for it: what it may assume makes address
// arithmetic cheap (a 32-bit index need not be extended after each step), but `x * 31 + 7` of data
// must wrap. So integers that end in addresses, bounds and loop limits are computed with plain
// operators, and all others with tw::wrap_add and its like.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// By value: is it a signed integer of 32 or 64 bits that is used as data?
std::vector<bool> find_wrapping(const ir::Kernel& kernel);

}  // namespace tilewright
