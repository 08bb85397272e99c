// SPDX-License-Identifier: Apache-2.0
// cli/bench_request.h — the words of `tilewright bench` as the cases and entries that they ask for.
#pragma once

#include <functional>
#include <vector>

#include "bench/suite/rivals.h"
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
  // Instead of cases: `bench mlp` and `bench compile`. False when it was interrupted.
  std::function<bool(const suite::RunOptions& run, const suite::Ceilings& ceilings,
                     suite::Rivals* rivals, std::vector<suite::Record>& records)>
      whole = {};
  std::vector<DType> products = {};  // whose rate is the ceiling of `whole`; empty: that of memory

  bool is_arithmetic() const {
    return !products.empty() || (operation != nullptr && operation->is_arithmetic);
  }
};
BenchRequest bench_request(const BenchVerbOptions& options);

// Of `bench mlp` and `bench compile` (bench_whole.cpp); empty for other operations. `request` has
// its device and its way of running.
bool is_whole(const BenchVerbOptions& options);
void request_whole(const BenchVerbOptions& options, BenchRequest& request);
// `bench mlp --print-loss`: trains and prints.
void print_losses(const BenchVerbOptions& options);

// What takes part at a case.
std::vector<suite::Entry> bench_entries(const BenchVerbOptions& options, const suite::Case& which);

// A kernel of the user's on arguments as `tilewright run` takes them, alone or beside another.
bool is_pair(const BenchVerbOptions& options);

}  // namespace tilewright::cli
