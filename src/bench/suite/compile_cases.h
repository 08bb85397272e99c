// SPDX-License-Identifier: Apache-2.0
// bench/suite/compile_cases.h — where compiling a function pays and where it does not: the cases of
// the course, each eager and compiled, with a verdict.
#pragma once

#include <string>
#include <vector>

#include "bench/suite/run.h"

namespace tilewright::suite {

struct CompileCase {
  const char* name;
  const char* summary;
};
const std::vector<CompileCase>& compile_cases();

// Compiling pays from here on.
inline constexpr double worthwhile = 1.2;

// "compiled is 2.1 times as fast: worth it, 9 kernels instead of 61"
std::string verdict_of(double eager_seconds, double compiled_seconds, const std::string& reason);

// Records "compile NAME" of the ways "eager", "compiled" and "reduce-overhead"; the note of the
// latter two is the verdict. Empty `names`: all cases. False when it was interrupted.
bool run_compile_cases(const std::vector<std::string>& names, Device device,
                       const Ceilings& ceilings, const RunOptions& options,
                       std::vector<Record>& records);

}  // namespace tilewright::suite
