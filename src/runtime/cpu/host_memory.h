// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/host_memory.h — how much memory this machine has and can still give.
#pragma once

#include <cstddef>

namespace tilewright {

std::size_t total_host_memory();

// What can be allocated without swapping or being killed: the kernel's estimate, or less when a
// control group limits us.
std::size_t available_host_memory();

}  // namespace tilewright
