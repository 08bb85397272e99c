// SPDX-License-Identifier: Apache-2.0
// compiler/triton/launch_facts.h — what can be said of one launch without running it: its work, what its
// blocks need, and the usual faults.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tilewright/load_inline.h"
#include "tilewright/module.h"
#include "tilewright/triton.h"

namespace tilewright {

struct LaunchFacts {
  std::string kernel;
  Dim3 grid;
  // Of all programs together, counted from the ops (ir/cost.h); zero for kernels that have none.
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  bool is_exact = true;
  // On a GPU.
  int threads = 0;  // per block; 0 on a CPU
  int registers = 0;
  std::int64_t shared_bytes = 0;  // static and dynamic
  std::size_t spill_bytes = 0;
  std::vector<std::string> faults;
};

// Throws what the launch would throw of its arguments; compiles where the launch would.
LaunchFacts launch_facts(const TritonKernel& kernel, const TritonLaunch& launch,
                         std::span<const TritonArgument> arguments);

// Of a kernel that was loaded inline from these options; the launch is the caller's.
LaunchFacts launch_facts(const InlineOptions& source, const Function& kernel,
                         const LaunchConfig& config);

}  // namespace tilewright
