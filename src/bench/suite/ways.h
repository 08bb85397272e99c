// SPDX-License-Identifier: Apache-2.0
// bench/suite/ways.h — the ways to write an operation: one line each in the registry of ways.cpp.
//
// A way is prepared for a problem (its code is compiled and its temporaries are made) and then run
// any number of times; every run writes the problem's output.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/ops.h"
#include "compiler/triton/launch_facts.h"

namespace tilewright::suite {

// What a way is once it is ready to run.
struct Prepared {
  std::function<void()> run;
  int kernels = 1;   // launches per run
  double bytes = 0;  // read and written by all of them; 0: no more than the operation must
  std::string note;  // for the reader of the table: "emulated"
  // What can be said of each launch of a run; made only where it is asked for.
  std::vector<std::function<LaunchFacts()>> launches = {};
  std::string drawing = {};  // of a compiled function, after its first run
};

struct Way {
  const char* operation;
  const char* name;
  const char* file;  // embedded source; its lines of code are counted
  Prepared (*prepare)(const Problem& problem, const Way& way);
  enum class Where { Anywhere, Cpu } where = Where::Anywhere;
  bool is_float32_only = false;
  int roundings = 4;  // of values to the dtype, on the way to the result
  // CUDA source on a CPU: the most elements that emulation does in about a second; 0: not emulated.
  std::int64_t emulation_limit = 0;
};

std::span<const Way> all_ways();
std::vector<Way> ways_of(std::string_view operation);

// Why a way is not run for a problem unless it is asked for by name; empty when it is.
std::string why_not(const Way& way, const Shape& shape, DType dtype, Device device);

// Lines that are neither empty nor comment nor import.
int lines_of_code(std::string_view text);
std::string_view source_of(const Way& way);

// How many warps a program that holds a row of this length should have.
int warps_for_row(std::int64_t columns);

}  // namespace tilewright::suite
