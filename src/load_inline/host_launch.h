// SPDX-License-Identifier: Apache-2.0
// load_inline/host_launch.h — a launch that compiled host code asks for.
#pragma once

#include <span>

#include "base/cpu_entry.h"
#include "load_inline/host_call.h"

namespace tilewright {

// An empty grid launches nothing. Throws as Function::launch does.
void launch_from_host(const TwLaunch& launch, const HostContext& context);

// A launch of the kernel at `launch.entry`, on this machine's cores. With checks, an access outside
// of `memory` is a fault; empty: not known.
void launch_emulated(const TwLaunch& launch, std::span<const TwMemory> memory);

}  // namespace tilewright
