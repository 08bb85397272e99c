// SPDX-License-Identifier: Apache-2.0
// cli/bench_pair.h — `tilewright bench FILE.py:KERNEL NAME=VALUE ... [--reference FILE.py:OTHER]`:
// a kernel alone or beside another one that does the same, on arguments as `tilewright run` takes
// them. Either may be FILE.cu:NAME.
#pragma once

#include <memory>

#include "bench/suite/rivals.h"
#include "bench/suite/run.h"
#include "cli/verbs.h"

namespace tilewright::cli {

// "torch.nn.functional.gelu" of --reference torch:torch.nn.functional.gelu; empty for kernels.
std::string torch_reference(const BenchVerbOptions& options);

class BenchPair {
 public:
  // Throws what loading the kernels and reading the arguments throws, before anything is measured.
  // `arguments` are those of one step of a sweep.
  BenchPair(const BenchVerbOptions& options, const std::vector<std::string>& arguments,
            Device device);
  ~BenchPair();

  // Adds the reference's record where there is one, and that of the kernel, compared with it. False
  // when interrupted.
  // `rivals` are needed for a reference in Python.
  bool run(const suite::RunOptions& options, const suite::Ceilings& ceilings, suite::Rivals* rivals,
           std::vector<suite::Record>& records);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::cli
