// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/elementwise_test.cpp — loads, arithmetic and stores of tiles, against the
// interpreter.
#include <gmock/gmock.h>
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

// Rows that are looked up have no formula, but each of them is read in vectors.
// The address grows by one along both dimensions: a vector along one of them starts anywhere.
TEST(CudaElementwise, TwoStridesOfOneAreNotAligned) {
  const TileProgram program(R"(
@triton.jit
def hankel(out_ptr, x_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + rows + columns)
    tl.store(out_ptr + rows * COLUMNS + columns, x)
)",
                            "hankel", "*fp32:16, *fp32:16, 16, 64");
  EXPECT_THAT(program.text(), testing::HasSubstr("tw::load<4, 1>(x_tile"));
  Memory out = zeros(DType::Float32, 16 * 64), x = numbers(DType::Float32, 16 + 64, 1);
  program.expect_same({.arguments = {&out, &x}});
}

TEST(CudaElementwise, GatheredRowsAreReadInVectors) {
  const TileProgram program(R"(
@triton.jit
def look_up(out_ptr, table_ptr, index_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    index = tl.load(index_ptr + rows)
    x = tl.load(table_ptr + index[:, None] * COLUMNS + columns[None, :])
    tl.store(out_ptr + index[:, None] * COLUMNS + columns[None, :], x * 2)
)",
                            "look_up", "*fp32:16, *fp32:16, *i32:16, i32, 16, 64");
  EXPECT_THAT(program.text(), testing::HasSubstr("tw::load<4>(x_tile"));
  EXPECT_THAT(program.text(), testing::HasSubstr("tw::store<4>("));
  Memory out = zeros(DType::Float32, 32 * 64), table = numbers(DType::Float32, 32 * 64, 1);
  Memory index = zeros(DType::Int32, 16);
  for (std::size_t i = 0; i < 16; ++i) index.set(i, static_cast<double>((i * 7 + 3) % 32));
  program.expect_same({.arguments = {&out, &table, &index, std::int64_t{32}}});
}

// Each division would find out again how to scale the divisor.
TEST(CudaElementwise, WhatAllAreDividedByIsPreparedOnce) {
  const TileProgram program(R"(
@triton.jit
def shares(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x / tl.sum(x) + x / n + 1 / x)
)",
                            "shares", "*fp32:16, *fp32:16, fp32, 1024");
  EXPECT_THAT(program.text(), testing::HasSubstr("= tw::Divisor(sum)"));
  EXPECT_THAT(program.text(), testing::HasSubstr("= tw::Divisor(n)"));
  EXPECT_THAT(program.text(), testing::HasSubstr("tw::divide_fast(1.0f, "));
  for (const double n : {3.0, 1e-40, 3e38, -1e38, -1e-39}) {
    Memory out = zeros(f32, 1024), x = numbers(f32, 1024, 1);
    program.expect_same({.arguments = {&out, &x, n}, .tolerance = 1e-5});
  }
}

// Every number of 32 bits but the smallest has another one of the same size.
TEST(CudaElementwise, QuotientsAndRestsByZeroAndOfTheSmallestNumberAreThoseOfTheLanguage) {
  const TileProgram program(R"(
@triton.jit
def quotients(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x // n)
    tl.store(out_ptr + BLOCK + i, x % n)
)",
                            "quotients", "*i32:16, *i32:16, i32, 256");
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{7}, std::int64_t{-7},
                               std::int64_t{-2147483648}}) {
    Memory out = zeros(DType::Int32, 512), x = zeros(DType::Int32, 256);
    for (std::size_t i = 0; i < 256; ++i) x.set(i, static_cast<double>(i * 7919) - 1e6);
    x.set(0, -2147483648.0);
    x.set(1, 2147483647.0);
    program.expect_same({.arguments = {&out, &x, n}});
  }
}

// The rest of a row behind the index of its loop fits in the type of both.
TEST(CudaElementwise, WhatALoopHasLeftIsComparedInTheTypeOfItsIndex) {
  const TileProgram program(R"(
@triton.jit
def rows(out_ptr, x_ptr, n, m, BLOCK: tl.constexpr):
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=0.0), mask=i < m)
)",
                            "rows", "*fp32:16, *fp32:16, i32:16, i32:16, 256");
  EXPECT_THAT(program.text(), testing::HasSubstr("< (n - at)"));
  EXPECT_THAT(program.text(), testing::HasSubstr("(i64(m) - t)"));  // may be anything
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{16}, std::int64_t{704}})
    for (const std::int64_t m : {std::int64_t{-2147483648}, std::int64_t{608}}) {
      Memory out = zeros(f32, 1024), x = numbers(f32, 1024, 1);
      program.expect_same({.arguments = {&out, &x, n, m}});
    }
}

// A call under a condition would be a branch for every element.
TEST(CudaElementwise, WhatASelectChoosesFromIsComputedBeforeIt) {
  const TileProgram program(R"(
@triton.jit
def kept(out_ptr, x_ptr, keep_ptr, p, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + i)
    tl.store(out_ptr + i, tl.where(keep > 0, tl.load(x_ptr + i) / (1 - p), 0.0))
)",
                            "kept", "*fp32:16, *fp32:16, *i32:16, fp32, 256");
  EXPECT_THAT(program.text(), testing::HasSubstr(" = divisor.divide("));
  EXPECT_THAT(program.text(), testing::Not(testing::HasSubstr("? tw::")));
  EXPECT_THAT(program.text(), testing::Not(testing::HasSubstr("? divisor.")));
  Memory out = zeros(f32, 256), x = numbers(f32, 256, 1), keep = zeros(DType::Int32, 256);
  for (std::size_t i = 0; i < 256; i += 3) keep.set(i, 1);
  program.expect_same({.arguments = {&out, &x, &keep, 0.5}, .tolerance = 1e-6});
}

}  // namespace
}  // namespace tilewright
