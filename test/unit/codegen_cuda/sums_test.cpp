// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/sums_test.cpp — sums of small floats are rounded once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/tile.h"
#include "tile_program.h"

namespace tilewright {
namespace {

// Numbers near 0.1, so that rounding errors of a running sum do not cancel.
Memory near_tenth(DType dtype, std::size_t count) {
  Memory memory = zeros(dtype, count);
  for (std::size_t i = 0; i < count; ++i)
    memory.set(i, ir::round_to(dtype, 0.1 + 0.001 * static_cast<double>(i % 7)));
  return memory;
}

TEST(CudaSums, SmallFloatsAreRoundedOnce) {
  for (const DType dtype : {f16, bf16}) {
    const std::string type(ir::short_name_of(dtype));
    // Within a block to a scalar, and of many columns, of which a thread has several.
    const TileProgram program = TileProgram::from_ir(fmt::format(R"(
kernel @sums(%in: *{0}, %all: *{0}, %columns: *{0}) tile {{
  %one = constant {{value = 1}} : i64
  %width = constant {{value = 64}} : i64
  %p = affine %in, %one : *{0}[1024]
  %x = load %p : {0}[1024]
  %s = reduce %x {{axis = 0}} : {0} (%a: {0}, %b: {0}) {{
    %c = add %a, %b : {0}
    yield %c
  }}
  store %all, %s
  %pc = affine %in, %width, %one : *{0}[256, 64]
  %xc = load %pc : {0}[256, 64]
  %sc = reduce %xc {{axis = 0}} : {0}[64] (%ac: {0}, %bc: {0}) {{
    %cc = add %ac, %bc : {0}
    yield %cc
  }}
  %qc = affine %columns, %one : *{0}[64]
  store %qc, %sc
}}
)",
                                                                 type),
                                                     1);
    Memory in = near_tenth(dtype, std::size_t{256} * 64);
    Memory all = zeros(dtype, 1), columns = zeros(dtype, 64);
    program.expect_same({.arguments = {&in, &all, &columns}, .tolerance = 0.05});
    double total = 0;
    double column[64] = {};
    for (std::size_t i = 0; i < in.count(); ++i) {
      if (i < 1024) total += in.at(i);
      column[i % 64] += in.at(i);
    }
    // Half an ulp of what is stored, and what f32 may lose on the way.
    const double bound = (dtype == f16 ? 0x1p-11 : 0x1p-8) + 0x1p-18;
    EXPECT_NEAR(all.at(0), total, total * bound) << type << program.text();
    for (std::size_t i = 0; i < 64; ++i)
      EXPECT_NEAR(columns.at(i), column[i], column[i] * bound) << type << program.text();
  }
}

// Two tiles of 32 elements per thread and as many of 16 bits that are loaded: the compiler must not
// count on so many blocks that these come one after the other. (Tiles that start from zero would be
// carried as parts.)
// Two rounds of a loop that only adds up what it loads, and one more where their number is odd.
TEST(CudaSums, TwoRoundsLoadTogether) {
  const TileProgram program(R"(
@triton.jit
def products(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.arange(0, 32)[:, None] * BLOCK
    total = tl.zeros((32, BLOCK), dtype=tl.float32)
    for k in range(0, n):
        x = tl.load(x_ptr + k * 32 * BLOCK + row + i[None, :])
        y = tl.load(y_ptr + k * BLOCK + i)
        total += x * y[None, :]
    tl.store(out_ptr + row + i[None, :], total)
)",
                            "products", "*fp32:16, *fp32:16, *fp32:16, i32, 128");
  EXPECT_NE(program.text().find("#pragma unroll 2"), std::string::npos) << program.text();
  for (const std::int64_t n : {0, 1, 2, 5}) {
    Memory x = numbers(f32, 5 * 32 * 128, 1), y = numbers(f32, 5 * 128, 2);
    Memory out = zeros(f32, 32 * 128);
    program.expect_same({.arguments = {&x, &y, &out, n}, .tolerance = 1e-5});
  }
}

// Sums of rows of which two warps would each have half: one warp has the whole row, and each slice
// of a thread's elements its own totals, in registers.
TEST(CudaSums, OfRowsInsideAWarp) {
  const TileProgram program(R"(
@triton.jit
def row_sums(x_ptr, w_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    w = tl.load(w_ptr + column)
    x = tl.load(x_ptr + row[:, None] * COLUMNS + column[None, :], mask=row[:, None] < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x * w, 1) + tl.load(out_ptr + row, mask=row < n), mask=row < n)
)",
                            "row_sums", "*fp32:16, *fp32:16, *fp32:16, i32, 128, 256", 8);
  EXPECT_EQ(program.text().find("__shared__"), std::string::npos) << program.text();
  EXPECT_EQ(program.text().find("#pragma unroll 1\n"), std::string::npos) << program.text();
  for (const std::int64_t n : {128, 61, 1, 0}) {
    Memory x = numbers(f32, 128 * 256, 1), w = numbers(f32, 256, 2), out = numbers(f32, 128, 3);
    program.expect_same({.arguments = {&x, &w, &out, n}, .tolerance = 1e-5});
  }
}

TEST(CudaSums, LoadsOfALoopHaveRegisters) {
  const std::string text = R"(
@triton.jit
def columns(x_ptr, y_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    cols = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.full((M, N), 1, dtype=tl.float32)
    b = tl.full((M, N), 2, dtype=tl.float32)
    for i in range(0, m, M):
        rows = i + tl.arange(0, M)
        mask = (rows[:, None] < m) & (cols[None, :] < n)
        at = rows[:, None] * n + cols[None, :]
        a += tl.load(x_ptr + at, mask=mask, other=0.)
        b += tl.load(y_ptr + at, mask=mask, other=0.)
    tl.store(out_ptr + cols, tl.sum(a, axis=0) + tl.sum(b, axis=0), mask=cols < n)
)";
  const std::string signature = "*fp16:16, *fp16:16, *fp32:16, i32, i32:16, ";
  const TileProgram wide(text, "columns", signature + "32, 128");
  EXPECT_THAT(wide.text(), testing::HasSubstr("__launch_bounds__(128, 1)"));
  const TileProgram narrow(text, "columns", signature + "16, 64");
  EXPECT_THAT(narrow.text(), testing::HasSubstr("__launch_bounds__(128) "));
  Memory x = numbers(f16, 70 * 160, 1), y = numbers(f16, 70 * 160, 2), out = zeros(f32, 160);
  wide.expect_same({.grid = {2, 1, 1},
                    .arguments = {&x, &y, &out, std::int64_t{70}, std::int64_t{160}},
                    .tolerance = 1e-4});
}

// Several values of an element have a structure, which stands in the branch that needs it.
TEST(CudaSums, OfSeveralValuesInABranch) {
  const TileProgram program(R"(
@triton.jit
def where_largest(x_ptr, out_ptr, n):
    i = tl.arange(0, 128)
    x = tl.load(x_ptr + 127 - i)
    if n % 3 != 2:
        tl.store(out_ptr + i, i + tl.argmax(x, axis=0))
)",
                            "where_largest", "*i32:16, *i32:16, i32", 1);
  EXPECT_EQ(count_of(program.text(), "struct Group"), 1) << program.text();
  Memory x = numbers(i32, 128, 1);
  Memory out = zeros(i32, 128);
  program.expect_same({.arguments = {&x, &out, std::int64_t{4}}});
}

}  // namespace
}  // namespace tilewright
