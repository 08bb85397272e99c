// SPDX-License-Identifier: Apache-2.0
// cli/compile_numba.h — what `tilewright compile` needs of a @cuda.jit kernel.
#pragma once

#include <string>

#include "cli/kernel_path.h"
#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright::cli {

struct NumbaCompile {
  std::string kernel;
  std::string signature;  // Numba's types of its arguments
  KernelSource source;
  std::string text;  // its CUDA (or C++) text with the user's lines in comments
};

// `signature` is that of --signature, in Numba's notation; empty: the decorator's. Throws
// UsageError where there is neither.
NumbaCompile numba_to_compile(const KernelPath& path, const std::string& signature,
                              const Target& target);

}  // namespace tilewright::cli
