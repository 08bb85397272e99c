// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/cpu_module.h — compiled C++ as a loaded module.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace tilewright {

// Loads a shared object from memory. Its kernels have the signature TwCpuEntry (base/cpu_entry.h).
std::unique_ptr<LoadedModule> load_cpu_module(const Binary& binary, const KernelSource& source);

}  // namespace tilewright
