// SPDX-License-Identifier: Apache-2.0
// passes/axis_info/promises.h — lower bounds of integers by `tl.assume`.
#pragma once

#include <cstdint>
#include <map>

#include "ir/kernel.h"

namespace tilewright {

// By value: the largest number that it is promised not to be below (x >= 0, x > -1, 0 <= x). A
// promise counts where it is made whenever the value is: one in a branch or a loop says nothing of
// what was made before, since the branch may not be taken and the loop may have no rounds.
std::map<std::uint32_t, std::int64_t> promised_bounds(const ir::Kernel& kernel);

// The same for what is asked of `op` alone: with promises in the branches and loops around it.
std::map<std::uint32_t, std::int64_t> promised_bounds(const ir::Kernel& kernel, const ir::Op& op);

}  // namespace tilewright
