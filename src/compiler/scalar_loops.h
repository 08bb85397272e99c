// SPDX-License-Identifier: Apache-2.0
// compiler/scalar_loops.h — loops over elements that the host compiler did not make vector code of,
// by its own report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright {

struct ScalarLoop {
  std::string place;   // the user's line, "gelu.py:9"; empty where the text does not say
  std::string reason;  // in the compiler's words, or empty
};

// From g++'s messages about vector code (-fopt-info-vec-optimized-missed) while it compiled
// `source`. Only loops that are marked `omp simd` count: those over programs and the user's own are
// not meant to be vectors.
std::vector<ScalarLoop> scalar_loops_in(const KernelSource& source, std::string_view log);

// Compiles once more, with that report: one sentence for each such loop. Empty with a compiler that
// has no such report.
std::vector<std::string> faults_in_loops(const KernelSource& source, const Target& target);

}  // namespace tilewright
