// SPDX-License-Identifier: Apache-2.0
// compiler/launcher_header.h — a compiled kernel as a C++ header that needs only the CUDA driver.
//
//   #include "add_kernel_sm_90a.h"
//   CUresult result = sm_90a::add_kernel(stream, {blocks}, x, y, out, n);
#pragma once

#include <string>

#include "ir/kernel.h"
#include "runtime/backend.h"

namespace tilewright {

struct LauncherRequest {
  const KernelSource& source;  // one kernel, one variant, one step
  const Binary& binary;
  const ir::Kernel& kernel;  // at stage Tile
  const Target& target;
  std::string signature;  // for the comment
  int threads = 128;      // of a block, where the plan does not say
};

// Throws ArgumentError for a kernel that needs more than one launch or workspaces.
std::string launcher_header(const LauncherRequest& request);

// Bytes of dynamic shared memory of a launch; 0 when there are none.
std::int64_t dynamic_shared_bytes(const KernelSource& source);

}  // namespace tilewright
