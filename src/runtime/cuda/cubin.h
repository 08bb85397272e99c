// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cubin.h — what the kernels of a cubin need, without a GPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace tilewright {

struct KernelResources {
  std::string name;  // the name expression where there is one, else the symbol
  std::string symbol;
  int registers = 0;                  // per thread
  int barriers = 0;                   // named barriers of a block
  std::size_t shared_bytes = 0;       // static
  std::size_t stack_bytes = 0;        // per thread: indexed arrays, calls and spills
  std::size_t spill_store_bytes = 0;  // of spilled registers, per thread
  std::size_t spill_load_bytes = 0;
  std::size_t code_bytes = 0;  // machine code
};

// Of a binary that compile_with_nvrtc made, in the order of its log.
std::vector<KernelResources> resources_of(const Binary& binary);

}  // namespace tilewright
