// SPDX-License-Identifier: Apache-2.0
// cli/bench_pair.h — `tilewright bench FILE.py:KERNEL --reference FILE.py:OTHER NAME=VALUE ...`: a
// kernel beside another one that does the same, on arguments as `tilewright run` takes them.
#pragma once

#include <memory>

#include "bench/suite/run.h"
#include "cli/verbs.h"

namespace tilewright::cli {

class BenchPair {
 public:
  // Throws what loading the kernels and reading the arguments throws, before anything is measured.
  BenchPair(const BenchVerbOptions& options, Device device);
  ~BenchPair();

  // Two records: the reference's, and that of the kernel, compared with it. False when interrupted.
  bool run(const suite::RunOptions& options, const suite::Ceilings& ceilings,
           std::vector<suite::Record>& records);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::cli
