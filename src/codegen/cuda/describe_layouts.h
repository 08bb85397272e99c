// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/describe_layouts.h — who holds which element of a kernel's tiles, for people.
#pragma once

#include <string>

#include "codegen/cuda/emit.h"

namespace tilewright {

// Every tile that is kept, in the order of the kernel: its name and type, whether it is in
// registers or in shared memory, its layout in numbers and as a picture. `kernel` is at the tile
// stage.
std::string describe_layouts(const ir::Kernel& kernel, const CudaEmitOptions& options);

}  // namespace tilewright
