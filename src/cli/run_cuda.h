// SPDX-License-Identifier: Apache-2.0
// cli/run_cuda.h — `tilewright run` for .cu files: a program with main, a host function, a kernel.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel_arguments.h"
#include "cli/verbs.h"
#include "tilewright/module.h"

namespace tilewright::cli {

void run_cuda(const RunVerbOptions& options);

// What a run left behind, printed and saved as `run` does for a Triton kernel (cli/run.cpp).
struct RunReport {
  std::string name;
  std::string place;
  Dim3 grid = {0, 0, 0};  // 0: a host function, which has none
  double seconds = 0;
  std::vector<NamedValue> values;
  std::string result;  // of a host function that returns numbers or text
};
void report_run(const RunVerbOptions& options, const RunReport& report);

}  // namespace tilewright::cli
