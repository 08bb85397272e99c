// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/elementwise_test.cpp — loads, arithmetic and stores of tiles, against the
// interpreter.
#include <gtest/gtest.h>

#include "kernel_sources.h"
#include "tile_program.h"

namespace tilewright {
namespace {

TEST(CudaElementwise, VectorAdd) {
  const TileProgram program(add_source, "add_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, 1024");
  if (getenv("TW_SHOW")) printf("%s\n", program.text().c_str());
  for (std::int64_t n : {1, 31, 1024, 1031, 5000}) {
    const auto count = static_cast<std::size_t>(n);
    Memory x = numbers(f32, count, 1);
    Memory y = numbers(f32, count, 2);
    Memory out = zeros(f32, count);
    program.expect_same({.grid = {(n + 1023) / 1024, 1, 1}, .arguments = {&x, &y, &out, n}});
  }
}

TEST(CudaElementwise, Softmax) {
  for (int warps : {1, 4}) {
    const TileProgram program(softmax_source, "softmax_kernel",
                              "*fp32:16, *fp32:16, i32, i32, 1024", warps);
    if (getenv("TW_SHOW")) printf("%s\n", program.text().c_str());
    for (std::int64_t n : {1, 781, 1024}) {
      Memory x = numbers(f32, static_cast<std::size_t>(3 * n), 1);
      Memory out = zeros(f32, static_cast<std::size_t>(3 * n));
      program.expect_same({.grid = {3, 1, 1}, .arguments = {&out, &x, n, n}, .tolerance = 1e-6});
    }
  }
}

TEST(CudaElementwise, BigSoftmax) {
  const TileProgram program(softmax_source, "softmax_kernel",
                            "*fp32:16, *fp32:16, i32, i32, 131072", 4);
  if (getenv("TW_SHOW")) printf("%s\n", program.text().c_str());
  const std::int64_t n = 100003;
  Memory x = numbers(f32, static_cast<std::size_t>(n), 1);
  Memory out = zeros(f32, static_cast<std::size_t>(n));
  program.expect_same({.grid = {1, 1, 1}, .arguments = {&out, &x, n, n}, .tolerance = 1e-6});
}

}  // namespace
}  // namespace tilewright
