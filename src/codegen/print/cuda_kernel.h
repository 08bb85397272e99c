// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_kernel.h — a Final kernel that is the program of one thread, as a function of
// CUDA C++.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "codegen/print/statements.h"
#include "codegen/print/thread_calls.h"
#include "codegen/text/wgmma_functions.h"
#include "ir/kernel.h"

namespace tilewright {

struct CudaFunction {
  std::string text;
  std::set<std::string> parts;             // of the device library
  std::int64_t dynamic_bytes = 0;          // of shared memory, by the launch
  std::set<WgmmaFunction> products;        // instructions of warpgroups in use
  std::map<std::string, CopiedBox> boxes;  // by tensor map
};

// Under this name; with `has_directives` every comment has a #line to the user's source.
CudaFunction print_cuda_kernel(const ir::Kernel& kernel, const std::string& symbol,
                               const LineText& line_text, bool has_directives);

}  // namespace tilewright
