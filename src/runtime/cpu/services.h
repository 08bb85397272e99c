// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/services.h — what kernels on the CPU may call back into the library for.
#pragma once

#include <string>

#include "base/cpu_entry.h"

namespace tilewright {

// Handed to every CPU kernel; emulated CUDA finds its blocks and barriers in it.
const TwCpuServices& cpu_services();

// Thrown through the kernel by `fail`; the launch turns it into a KernelFault that names the
// kernel.
struct ProgramFailure {
  std::string message;
};

}  // namespace tilewright
