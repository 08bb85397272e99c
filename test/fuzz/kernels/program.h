// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/program.h — a generated kernel as a tree of statements, so that parts can be taken
// out of it, with all that its launch needs.
#pragma once

#include <string>
#include <vector>

#include "tilewright/dtype.h"

namespace tilewright::fuzz {

struct Statement;
using Block = std::vector<Statement>;

// Lines that belong together (`text`), or a compound statement: each branch is a header
// ("for t in range(3):", "else:") and its block.
struct Statement {
  struct Branch {
    std::string header;
    Block body;
  };
  std::vector<std::string> text;
  std::vector<Branch> branches;
  bool is_kept = false;  // without it the kernel would not end
};

// The memory of a launch. Arguments point into it, several of them perhaps.
struct Memory {
  enum class Fill : std::uint8_t {
    Values,       // small integers, also as floats
    Permutation,  // of 0 to period - 1, again and again
    Zero,
  };
  DType dtype = DType::Int32;
  std::int64_t count = 0;
  Fill fill = Fill::Values;
  std::int64_t period = 1;
};

struct PointerArgument {
  std::string name;
  std::size_t memory = 0;
  std::int64_t start = 0;  // in elements
};

struct IntegerArgument {
  std::string name;
  std::int64_t value = 0;
  bool is_constant = false;  // tl.constexpr
};

struct Program {
  unsigned seed = 0;
  std::string name;
  std::vector<Memory> memory;
  std::vector<PointerArgument> pointers;
  std::vector<IntegerArgument> integers;
  std::string functions;  // in front of the kernel
  int grid = 1;
  int warps = 0;  // 0: the compiler chooses
  Block body;
};

std::string source_of(const Program& program);
// The launch in words: sizes, which arguments share memory, warps.
std::string launch_of(const Program& program);
std::size_t statement_count(const Block& block);

}  // namespace tilewright::fuzz
