// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/load_ahead_test.cpp — loops over rows that load the next one while they work.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string softmax = R"(
@triton.jit
def softmax(out_ptr, x_ptr, rows, cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < cols
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(x_ptr + row * cols + i, mask=mask, other=-float('inf'))
        x = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * cols + i, x / tl.sum(x, axis=0), mask=mask)
)";

// More programs than rows, fewer, and no rows: nothing behind the last row is read.
TEST(CudaLoadAhead, RowsOfALoop) {
  for (const std::string cols : {"i32:16", "i32"}) {
    const TileProgram program(softmax, "softmax", "*fp32:16, *fp32:16, i32, " + cols + ", 256, 2");
    show(program);
    EXPECT_THAT(program.text(), HasSubstr("next_x_tile"));
    const std::int64_t columns = cols == "i32" ? 131 : 160;
    for (const std::int64_t rows : {5, 1, 0}) {
      const auto count = static_cast<std::size_t>(rows * columns);
      Memory x = numbers(f32, count + 1, 1), out = zeros(f32, count + 1);
      program.expect_same(
          {.grid = {2, 1, 1}, .arguments = {&out, &x, rows, columns}, .tolerance = 1e-5});
    }
  }
}

TEST(CudaLoadAhead, OnlyWhereItWasAskedForAndFits) {
  const TileProgram plain(softmax, "softmax", "*fp32:16, *fp32:16, i32, i32:16, 256, 1");
  EXPECT_THAT(plain.text(), Not(HasSubstr("next_x_tile")));
  const TileProgram large(softmax, "softmax", "*fp32:16, *fp32:16, i32, i32:16, 4096, 2");
  EXPECT_THAT(large.text(), Not(HasSubstr("next_x_tile")));
}

const std::string running_sums = R"(
@triton.jit
def running_sums(x_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    total = 0.0
    for k in range(0, N // BLOCK):
        x = tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
        tl.store(out_ptr + k * BLOCK + tl.arange(0, BLOCK), tl.cumsum(x, 0) + total)
        total += tl.sum(x, 0)
)";

// Pieces of a row: several rounds ahead where there are many of them, each of a few elements.
TEST(CudaLoadAhead, ShortRoundsOfARow) {
  const auto program = [](int n, int block) {
    return TileProgram(running_sums, "running_sums",
                       fmt::format("*fp16:16, *fp32:16, {}, {}", n, block));
  };
  const TileProgram many = program(32 * 18, 32);
  EXPECT_THAT(many.text(), HasSubstr("#pragma unroll 4")) << many.text();
  EXPECT_THAT(program(32 * 8, 32).text(), Not(HasSubstr("next_row")));
  EXPECT_THAT(program(1024 * 18, 1024).text(), Not(HasSubstr("next_row")));
  Memory x = numbers(DType::Float16, 32 * 18, 1), out = zeros(f32, 32 * 18);
  many.expect_same({.arguments = {&x, &out}, .tolerance = 1e-5});
}

// In place, each round must see what the one before it has written.
TEST(CudaLoadAhead, NoPiecesOfWhatTheLoopWrites) {
  const TileProgram program(R"(
@triton.jit
def shifted(x_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = 0.0
    for k in range(0, N // BLOCK):
        x = tl.load(x_ptr + k * BLOCK + i)
        total += tl.sum(x, 0)
        tl.store(x_ptr + k * BLOCK + BLOCK + i, x + total)
)",
                            "shifted", "*fp32:16, 576, 32");
  EXPECT_THAT(program.text(), Not(HasSubstr("#pragma unroll 4")));
  Memory x = numbers(f32, 19 * 32, 1);
  program.expect_same({.arguments = {&x}, .tolerance = 1e-5});
}

// The next row may be one that this round writes.
TEST(CudaLoadAhead, NotOfWhatTheLoopWrites) {
  const TileProgram program(R"(
@triton.jit
def shifted(x_ptr, rows, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(0, rows, num_stages=3):
        x = tl.load(x_ptr + row * BLOCK + i)
        tl.store(x_ptr + (row + 1) * BLOCK + i, x + 1)
)",
                            "shifted", "*fp32:16, i32, 128");
  EXPECT_THAT(program.text(), Not(HasSubstr("next_x_tile")));
  Memory x = numbers(f32, 5 * 128, 1);
  program.expect_same({.arguments = {&x, std::int64_t{4}}});
}

}  // namespace
}  // namespace tilewright
