// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/module.h — a cubin loaded on a device, and the launch of its kernels.
//
// A module is unloaded with its last reference; a caller who captured launches into a graph keeps
// it for the graph's life.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace tilewright::cuda {

std::unique_ptr<LoadedModule> load_module(const Binary& binary, const KernelSource& source,
                                          const Target& target, int device);

}  // namespace tilewright::cuda
