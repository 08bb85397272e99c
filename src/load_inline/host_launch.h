// SPDX-License-Identifier: Apache-2.0
// load_inline/host_launch.h — a launch that compiled host code asks for.
#pragma once

#include "load_inline/host_call.h"

namespace tilewright {

// An empty grid launches nothing. Throws as Function::launch does.
void launch_from_host(const TwLaunch& launch, const HostContext& context);

// A launch of the kernel at `launch.entry`, on this machine's cores.
void launch_emulated(const TwLaunch& launch);

}  // namespace tilewright
