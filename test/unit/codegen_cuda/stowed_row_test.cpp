// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/stowed_row_test.cpp — rows that lie in shared memory instead of registers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel_sources.h"
#include "tile_program.h"

namespace tilewright {
namespace {

const Target h200 = Target::parse("sm_90a");

bool has(const TileProgram& program, std::string_view text) {
  return program.text().find(text) != std::string::npos;
}

TileProgram softmax(const std::string& signature, int warps, int blocks) {
  return TileProgram(softmax_source, "softmax_kernel", signature, warps)
      .with({.target = h200, .num_warps = warps, .num_ctas = blocks, .stows_row = true});
}

void expect_softmax(const TileProgram& program, DType dtype, std::int64_t rows,
                    std::int64_t columns) {
  Memory out = zeros(dtype, static_cast<std::size_t>(rows * columns));
  Memory x = numbers(dtype, out.count(), 3);
  program.expect_same({.grid = {rows, 1, 1},
                       .arguments = {&out, &x, columns, columns},
                       .tolerance = dtype == DType::Float32 ? 1e-6 : 1e-2});
}

// Each thread copies its own vectors, and reads them in every loop; nothing else is kept.
TEST(CudaStowedRow, IsCopiedOnceAndReadInEveryLoop) {
  const TileProgram program = softmax("*bf16:16, *bf16:16, i32:16, i32:16, 1024", 2, 1);
  EXPECT_TRUE(has(program, "extern __shared__ __align__(16) unsigned char shared_row[];"))
      << program.text();
  EXPECT_TRUE(has(program, "+ int(threadIdx.x) * 8;")) << program.text();
  EXPECT_TRUE(has(program, "tw::copy_whole<8, tw::lingering>(")) << program.text();
  EXPECT_TRUE(has(program, "tw::wait_copies<0>();")) << program.text();
  EXPECT_FALSE(has(program, "[16]")) << program.text();  // registers for the whole row
  for (const std::int64_t columns : {1024, 1008, 16})
    expect_softmax(program, DType::BFloat16, 3, columns);
}

TEST(CudaStowedRow, IsSpreadOverACluster) {
  const TileProgram program = softmax("*fp32:16, *fp32:16, i32:16, i32:16, 1024", 2, 4);
  EXPECT_TRUE(has(program, "tw::own_place<64, 4, 256>()")) << program.text();
  EXPECT_TRUE(has(program, "tw::reduce_cluster<4, 2>(")) << program.text();
  for (const std::int64_t columns : {1024, 800, 16})
    expect_softmax(program, DType::Float32, 3, columns);
}

// Bounds within vectors; elements that no copy can move go through registers.
TEST(CudaStowedRow, MayEndAndBeginAnywhere) {
  const TileProgram odd_end = softmax("*fp32:16, *fp32:16, i32:16, i32, 1024", 2, 1);
  EXPECT_TRUE(has(odd_end, "tw::copy_guarded<4, tw::lingering>(")) << odd_end.text();
  expect_softmax(odd_end, DType::Float32, 1, 1001);
  for (const int blocks : {1, 2}) {
    const TileProgram odd = softmax("*bf16:16, *bf16:16, i32, i32, 1024", 2, blocks);
    EXPECT_TRUE(has(odd, "shared_row[];")) << odd.text();
    EXPECT_FALSE(has(odd, "copy")) << odd.text();
    for (const std::int64_t columns : {1024, 781, 1})
      expect_softmax(odd, DType::BFloat16, 3, columns);
  }
}

TEST(CudaStowedRow, WeightsStayWhereTheyAre) {
  const TileProgram program =
      TileProgram(norm_source, "norm_kernel", "*bf16:16, *bf16:16, *bf16:16, i32:16, 2048")
          .with({.target = h200, .stows_row = true});
  EXPECT_TRUE(has(program, "shared_row[];")) << program.text();
  EXPECT_TRUE(has(program, "tw::load_whole<8>(tile_3 + k * 8, weight_ptr")) << program.text();
  Memory x = numbers(DType::BFloat16, 2000 * 3, 1), weight = numbers(DType::BFloat16, 2000, 2);
  Memory out = zeros(DType::BFloat16, x.count());
  program.expect_same(
      {.grid = {3, 1, 1}, .arguments = {&x, &weight, &out, std::int64_t{2000}}, .tolerance = 2e-2});
}

// Two rows at once, and one whose place another step stores first, stay in registers.
TEST(CudaStowedRow, OnlyOneTileIsStowed) {
  const TileProgram program = TileProgram(R"(
@triton.jit
def both(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, (x - tl.sum(x, 0)) * (y - tl.sum(y, 0)))
)",
                                          "both", "*fp32:16, *fp32:16, *fp32:16, 512", 2)
                                  .with({.target = h200, .num_warps = 2, .stows_row = true});
  EXPECT_FALSE(has(program, "shared_row[];")) << program.text();
  Memory x = numbers(DType::Float32, 512, 1), y = numbers(DType::Float32, 512, 2);
  Memory out = zeros(DType::Float32, 512);
  program.expect_same({.arguments = {&x, &y, &out}, .tolerance = 1e-4});
}

// What was loaded is what counts, also when the kernel stores to the same place before it is used.
TEST(CudaStowedRow, IsReadBeforeLaterStores) {
  const TileProgram program = TileProgram(R"(
@triton.jit
def replace(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(x_ptr + i, tl.full([BLOCK], 3.0, tl.float32), mask=i < n)
    total = tl.sum(x, 0)
    tl.store(out_ptr + i, x / total, mask=i < n)
)",
                                          "replace", "*fp32:16, *fp32:16, i32:16, 512", 2)
                                  .with({.target = h200, .num_warps = 2, .stows_row = true});
  Memory x = numbers(DType::Float32, 512, 1);
  Memory out = zeros(DType::Float32, 512);
  program.expect_same({.arguments = {&x, &out, std::int64_t{496}}, .tolerance = 1e-5});
}

}  // namespace
}  // namespace tilewright
