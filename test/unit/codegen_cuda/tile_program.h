// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/tile_program.h — for tests: a Triton kernel as text, run as emulated CUDA text and
// by the interpreter over the same memory.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/cuda/emit.h"
#include "ir/kernel.h"
#include "tilewright/dtype.h"
#include "tilewright/module.h"

namespace tilewright {

// A buffer of elements as bytes.
struct Memory {
  DType dtype;
  std::vector<unsigned char> bytes;

  std::size_t count() const { return bytes.size() / size_of(dtype); }
  double at(std::size_t index) const;
  void set(std::size_t index, double value);
};
Memory zeros(DType dtype, std::size_t count);
// Small numbers of both signs, the same for every seed; integers are small too.
Memory numbers(DType dtype, std::size_t count, unsigned seed);

// How often a part occurs in a text.
int count_of(std::string_view text, std::string_view part);

using RunArgument = std::variant<std::int64_t, double, Memory*>;

struct Run {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<RunArgument> arguments;  // those that are not constants
  double tolerance = 0;                // relative to the larger of 1 and the value
};

// Emulated kernels, compiled and loaded.
using Loaded = Module;
Loaded load_emulated(const KernelSource& source);

class TileProgram {
 public:
  // `signature` in the form of compiler/triton/signature.h. The source gets the imports that it needs.
  TileProgram(const std::string& python, const std::string& name, const std::string& signature,
              int num_warps = 4, const std::string& target = "sm_90a");
  // Textual IR at stage Source or Tile.
  static TileProgram from_ir(const std::string& text, int num_warps = 4);
  static TileProgram from_kernel(ir::Kernel kernel, int num_warps = 4);

  // The same kernel with other options; the target and the lines stay.
  TileProgram with(CudaEmitOptions options) const;

  const ir::Kernel& kernel() const { return *kernel_; }
  const KernelSource& source() const { return source_; }
  const std::string& text() const { return source_.text; }

  // Runs both and compares every buffer; the buffers keep what the emulated kernel wrote.
  void expect_same(const Run& run) const;
  void expect_same(const Run& run, const Loaded& emulated) const;

 private:
  TileProgram() = default;
  void emit(CudaEmitOptions options);

  std::shared_ptr<ir::Kernel> kernel_;
  std::shared_ptr<std::vector<std::string>> lines_;
  KernelSource source_;
};

// Prints the text when TW_SHOW is set: what one wants to see of a failing test.
void show(const TileProgram& program);

}  // namespace tilewright
