// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/load_ahead_test.cpp — loops over rows that load the next one while they work.
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
