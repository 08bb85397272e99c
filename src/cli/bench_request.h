// SPDX-License-Identifier: Apache-2.0
// cli/bench_request.h — the words of `tilewright bench` as the cases and entries that they ask for.
#pragma once

#include <vector>

#include "bench/suite/run.h"
#include "cli/verbs.h"

namespace tilewright::cli {

// Everything is checked before anything is measured: names, shapes and memory. Throws UsageError
// and ArgumentError.
struct BenchRequest {
  const suite::Operation* operation = nullptr;
  Device device;
  std::vector<suite::Case> cases;  // by dtype, then by size
  suite::RunOptions run;
};
BenchRequest bench_request(const BenchVerbOptions& options);

// What takes part at a case.
std::vector<suite::Entry> bench_entries(const BenchVerbOptions& options, const suite::Case& which);

// A kernel of the user's on arguments as `tilewright run` takes them, alone or beside another.
bool is_pair(const BenchVerbOptions& options);

}  // namespace tilewright::cli
