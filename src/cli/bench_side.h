// SPDX-License-Identifier: Apache-2.0
// cli/bench_side.h — one side of `tilewright bench FILE:KERNEL`: a kernel or host function with
// tensors of its own, ready to be launched again and again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite/run.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/numba_call.h"
#include "cli/verbs.h"
#include "tilewright/numba.h"
#include "tilewright/triton.h"

namespace tilewright::cli {

struct BenchSide {
  std::string name;
  std::vector<std::string> parameters;
  TritonKernel kernel;
  std::shared_ptr<CudaCall> cuda;                                     // instead, of a .cu file
  std::shared_ptr<HostValue> result = std::make_shared<HostValue>();  // of a host function
  NumbaKernel numba;                                                  // instead, of @cuda.jit
  std::shared_ptr<NumbaCall> numba_call;
  std::vector<NamedValue> values;
  std::optional<LaunchValues> own_launch;  // of the kernel's file
  TritonLaunch launch;
  int lines = 0;

  bool is_numba() const { return numba.state() != nullptr; }
  const NamedValue* find(const std::string& name_of_value) const;
  // Of "ptrs.0" the parameter is "ptrs".
  bool has_parameter(const std::string& name_of_value) const;
};

// FILE.py:KERNEL (Triton or @cuda.jit) or FILE.cu:NAME. Throws what loading throws.
BenchSide load_side(const std::string& path, Device device);

// Takes those of `texts` (NAME=VALUE) that the side has parameters for. A grid may name a number of
// `given` that only the other side takes.
void give_values(BenchSide& side, const BenchVerbOptions& options,
                 const std::vector<std::string>& texts, const std::vector<std::string>& given,
                 Device device);

// Both sides see the same numbers: also those that `empty:` left, and random ones that one side has
// no parameter for.
void take_contents(BenchSide& side, const BenchSide& other);

void set_grid(BenchSide& side, const BenchVerbOptions& options,
              const std::vector<std::string>& given);

suite::Prepared prepared_from(const BenchSide& side);

}  // namespace tilewright::cli
