// SPDX-License-Identifier: Apache-2.0
// bench/suite/user_kernel.h — a kernel of the user's as an entry: its parameters are matched with
// the operands and sizes of the operation it does.
//
// A parameter is matched by what the user says (NAME=VALUE), else by its name (x_ptr, n_elements,
// BLOCK_SIZE, stride), else by its place among the pointers.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/suite/run.h"
#include "tilewright/numba.h"
#include "tilewright/triton.h"

namespace tilewright::suite {

struct UserKernel {
  std::string file;  // .py, .cu or .cpp
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> arguments;  // NAME, VALUE
  std::string grid;                                            // else by the operation
  std::string block;                                           // of .cu: threads, else 256
};

// Throws what loading the file throws, so that a wrong name is found before anything is measured.
Entry user_entry(const UserKernel& kernel);

// Lines of code of the kernel's function, with its decorators.
int lines_of_kernel(const TritonKernel& kernel);
int lines_of_kernel(const NumbaKernel& kernel);

// ---- The matching, for its tests.

struct Slot {
  std::string name;
  bool is_pointer = false;
  bool is_constexpr = false;
};
using Bound = std::variant<std::monostate, Tensor, std::int64_t, double, std::string>;

// One value per slot; monostate where a constexpr is left to the kernel's own configs or default.
// Throws ArgumentError that names a parameter that nothing matches.
std::vector<Bound> bind_slots(const std::vector<Slot>& slots, const Problem& problem,
                              const UserKernel& kernel, bool has_configs);

}  // namespace tilewright::suite
