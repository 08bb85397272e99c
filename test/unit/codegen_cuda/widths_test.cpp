// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/widths_test.cpp — how wide accesses of tiles of different types are, and reductions
// over many warps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// The gradient of a norm: bf16 rows in a loop, sums of f32 behind it.
constexpr const char* rows_and_sums = R"(
@triton.jit
def sums_of_rows(x_ptr, y_ptr, out_ptr, rows, N: tl.constexpr):
    i = tl.arange(0, N)
    sums = tl.zeros((N,), dtype=tl.float32)
    for row in range(rows):
        x = tl.load(x_ptr + row * N + i).to(tl.float32)
        sums += x * tl.sum(x, axis=0)
        tl.store(y_ptr + row * N + i, (x * 0.5).to(tl.bfloat16))
    tl.store(out_ptr + i, sums)
)";

TEST(CudaWidths, AStoreBehindALoopDoesNotNarrowItsLoads) {
  const TileProgram program(rows_and_sums, "sums_of_rows",
                            "*bf16:16, *bf16:16, *fp32:16, i32, 1024", 4);
  EXPECT_THAT(program.text(), HasSubstr("tw::load<8>(x_tile"));
  EXPECT_THAT(program.text(), HasSubstr("tw::store<8>(y_ptr"));
  EXPECT_THAT(program.text(), HasSubstr("tw::store<8, 4>(out_ptr"));
  Memory x = numbers(bf16, 3 * 1024, 1);
  Memory y = zeros(bf16, 3 * 1024);
  Memory out = zeros(f32, 1024);
  program.expect_same({.arguments = {&x, &y, &out, 3}, .tolerance = 1e-4});
}

// A multiple of 16 as a bool is 0 or 1, which is a multiple of 1 alone.
TEST(CudaWidths, ABoolMovesALoadByAnyNumberOfElements) {
  const TileProgram program(R"(
@triton.jit
def moved(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + n.to(tl.int1).to(tl.int32) + i))
)",
                            "moved", "*fp16:16, *fp16:16, i32:16, 1024", 4);
  EXPECT_THAT(program.text(), HasSubstr("tw::load<8, 1>(tile"));
  Memory x = numbers(f16, 1025, 1), out = zeros(f16, 1024);
  program.expect_same({.arguments = {&x, &out, std::int64_t{32}}, .tolerance = 0});
}

// ---- Reductions over 16 and 32 warps

constexpr const char* row_sum = R"(
@triton.jit
def row_sum(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x - tl.sum(x, axis=0) + tl.max(x, axis=0))
)";

class ManyWarps : public ::testing::TestWithParam<int> {};

TEST_P(ManyWarps, SumAndLargest) {
  const int n = 4096;
  const TileProgram program(row_sum, "row_sum", fmt::format("*fp32:16, *fp32:16, {}", n),
                            GetParam());
  Memory x = numbers(f32, n, 1);
  Memory out = zeros(f32, n);
  program.expect_same({.arguments = {&x, &out}, .tolerance = 1e-4});
}

// Lanes that combine in different orders would end with different values of this.
TEST_P(ManyWarps, AllThreadsHaveTheSameOfACombinationWhoseOrderMatters) {
  const int n = 4096;
  const TileProgram program(R"(
@triton.jit
def mix(a, b):
    return a * 0.5 + b * 0.25

@triton.jit
def same(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.reduce(tl.load(x_ptr + i), 0, mix) + i * 0)
)",
                            "same", fmt::format("*fp32:16, *fp32:16, {}", n), GetParam());
  Memory x = numbers(f32, n, 1);
  Memory out = zeros(f32, n);
  // The interpreter combines in another order; only the threads are compared.
  program.expect_same({.arguments = {&x, &out}, .tolerance = 1e9});
  for (std::size_t i = 1; i < n; ++i) ASSERT_EQ(out.at(i), out.at(0)) << i;
}

INSTANTIATE_TEST_SUITE_P(Cuda, ManyWarps, ::testing::Values(8, 16, 32));

}  // namespace
}  // namespace tilewright
