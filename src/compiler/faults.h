// SPDX-License-Identifier: Apache-2.0
// compiler/faults.h — the usual faults of a kernel that can be seen without running it, one
// sentence each with its remedy.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// Of the PTX of one kernel. `symbol` is its name there.
struct PtxFacts {
  int float64_arithmetic = 0;  // instructions that compute in float64 or convert to it
  int float32_arithmetic = 0;
  int narrow_loads = 0;         // from global memory, of one element each
  int vector_loads = 0;         // of several
  std::size_t local_bytes = 0;  // arrays per thread that are not in registers
  bool has_float64_memory = false;
};
PtxFacts ptx_facts(std::string_view ptx, std::string_view symbol);

// `spill_bytes` is what the assembler says of the kernel.
std::vector<std::string> faults_in_ptx(const PtxFacts& facts, std::size_t spill_bytes);

// Of what the compiler printed: asynchronous products that it makes wait for each other, and why.
std::vector<std::string> faults_in_log(std::string_view log);

// Of a Triton kernel: products of float32 that are rounded to tf32, and accesses whose neighbouring
// elements lie apart in memory.
std::vector<std::string> faults_in_tiles(const ir::Kernel& kernel);

}  // namespace tilewright
