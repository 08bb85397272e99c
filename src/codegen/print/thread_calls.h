// SPDX-License-Identifier: Apache-2.0
// codegen/print/thread_calls.h — functions of the device library that the program of a thread
// calls, as lines of CUDA C++.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/print/cuda_expressions.h"
#include "codegen/text/wgmma_functions.h"

namespace tilewright {

// Of a call that gives nothing. The function that it hands over has been written under its name
// before.
std::vector<std::string> thread_call_lines(const CudaExpressions& expressions,
                                           const ir::Kernel& kernel, const ir::Op& op);
// The type of what the function combines that a call hands over.
std::string combined_type(const ir::Kernel& kernel, const ir::Op& op);

// The instructions of all products of warpgroups that a kernel starts.
std::set<WgmmaFunction> products_of(const ir::Kernel& kernel);

// In which boxes a tensor map is copied.
struct CopiedBox {
  int line = 0;  // elements of a line
  int lines = 0;
  int swizzle_bytes = 0;  // in which chunks of 16 bytes are exchanged
};
std::map<std::string, CopiedBox> boxes_of(const ir::Kernel& kernel);

}  // namespace tilewright
