// SPDX-License-Identifier: Apache-2.0
// cli/numba_call.h — a @cuda.jit kernel with values by the names of its parameters, ready to
// launch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/kernel_arguments.h"
#include "tilewright/numba.h"

namespace tilewright::cli {

// FILE.py:KERNEL, or FILE.py with one kernel.
NumbaKernel load_numba_kernel(const std::string& path);

// As the command line has it.
struct NumbaCallText {
  std::vector<std::string> arguments;  // NAME=VALUE; 5:i32 and 0.5:f32 are numbers of that type
  std::string grid, block;             // sizes or expressions; an empty block has 256 threads
  std::int64_t shared_bytes = 0;
};

struct NumbaCall {
  NumbaLaunch launch;
  std::vector<NamedValue> values;
  std::map<std::string, DType> types;  // of numbers that have one

  // In the order of the parameters. Throws ArgumentError for one that has no value.
  std::vector<NumbaArgument> arguments(const NumbaKernel& kernel) const;
};
// Throws UsageError without a grid, and for what is no value.
NumbaCall read_numba_call(const NumbaKernel& kernel, const NumbaCallText& text,
                          const ValueTextOptions& options);

}  // namespace tilewright::cli
