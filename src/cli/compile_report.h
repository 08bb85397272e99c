// SPDX-License-Identifier: Apache-2.0
// cli/compile_report.h — what `tilewright compile` says of one kernel on one target.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/occupancy.h"
#include "tilewright/target.h"

namespace tilewright::cli {

struct Emitted {
  std::string kind;  // "cuda"
  std::string file;  // name within the folder
  std::string content;
  bool is_binary = false;
};

struct CompileReportRow {
  std::string kernel;
  std::string signature;  // empty for .cu
  Target target;
  double seconds = 0;
  std::size_t binary_bytes = 0;
  // CUDA only.
  std::string symbol;  // the kernel's name in the binary
  int threads = 0;     // of a block
  int programs = 1;    // that share a block, when there are many
  int cluster = 1;     // blocks that one program is spread over
  int registers = 0;
  std::size_t spill_bytes = 0;
  std::size_t stack_bytes = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;  // of those, by the launch
  std::optional<Occupancy> occupied;
  double elements_per_thread = 0;     // 0: unknown
  std::vector<std::string> products;  // how each is made (compiler/product_facts.h)
  std::string roles;                  // of warps; empty: all do the same
  std::vector<std::string> notes;     // what could not be done as it was asked for
  std::vector<std::string> faults;    // that make the kernel slow or inexact (compiler/faults.h)
  std::vector<Emitted> emitted;
};

// Fills in what the cubin says of `symbol`.
void add_resources(CompileReportRow& row, const Binary& binary, const std::string& symbol,
                   std::int64_t dynamic_shared);

void print_reports(const std::vector<CompileReportRow>& rows, const std::string& folder, bool json);

}  // namespace tilewright::cli
