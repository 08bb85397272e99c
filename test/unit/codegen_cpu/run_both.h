// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/run_both.h — runs a kernel on the interpreter and as compiled CPU code, and compares
// the memory that both leave.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/kernel.h"
#include "tilewright/dtype.h"
#include "tilewright/module.h"

namespace tilewright::testing_cpu {

// One argument: memory with elements of a type, or a scalar.
struct Memory {
  DType dtype = DType::Float32;
  std::vector<std::byte> bytes;

  template <class T>
  static Memory of(DType dtype, const std::vector<T>& values) {
    Memory memory{dtype, std::vector<std::byte>(values.size() * sizeof(T))};
    if (!values.empty()) std::memcpy(memory.bytes.data(), values.data(), memory.bytes.size());
    return memory;
  }
  // Numbers that exercise the type: small ones, both signs, zeros, and bit patterns at random.
  static Memory random(DType dtype, std::size_t count, unsigned seed, double scale = 4.0);
  std::size_t count() const { return bytes.size() / size_of(dtype); }
};
using TestArgument = std::variant<Memory, std::int64_t, double>;

struct Tolerance {
  double ulps = 2;      // of the result's type
  double absolute = 0;  // or this far off
};

// Kernels are compiled once per text.
Function compile_cpu(const ir::Kernel& kernel);

// Runs the passes of the Tile stage on the text, then both; fails the test at the first element
// that differs, with the index, both values and the generated text.
void run_both(const std::string& text, const std::vector<TestArgument>& arguments,
              const std::vector<std::int64_t>& grid = {1, 1, 1}, const Tolerance& tolerance = {});
void run_both(const ir::Kernel& kernel, const std::vector<TestArgument>& arguments,
              const std::vector<std::int64_t>& grid = {1, 1, 1}, const Tolerance& tolerance = {});

// The text that the emitter gives.
std::string cpu_text(const ir::Kernel& kernel);

}  // namespace tilewright::testing_cpu
