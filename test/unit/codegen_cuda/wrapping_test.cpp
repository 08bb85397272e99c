// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/wrapping_test.cpp — data wraps by functions of the device library, addresses are
// plain arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Wrapping, OfDataButNotOfAddresses) {
  const TileProgram program(R"(
@triton.jit
def data_kernel(x, out, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i * stride, mask=i < n)
    grew = v + 1 > v
    half = (v * 2) // 2
    state = tl.sum(v, axis=0)
    for k in range(4):
        state = state * 1664525 + 1013904223
    tl.store(out + i, grew.to(tl.int32) + half - state - (v << 3), mask=i < n)
)",
                            "data_kernel", "*i32:16, *i32:16, i32, i32, 128");
  for (const char* text :
       {"tw::wrap_add(v_tile[0], 1) > v_tile[0]", "tw::wrap_multiply(v_tile[0], 2) / 2",
        "i32(blockIdx.x) * 128", "tw::wrap_add(tw::wrap_multiply(state_2, 1664525), 1013904223)",
        "tw::shift_left(v_tile[0], 3)", "return tw::wrap_add(a, b);"})
    EXPECT_THAT(program.text(), HasSubstr(text));
  Memory x = numbers(DType::Int32, 256, 1), out = zeros(DType::Int32, 256);
  x.set(0, 2147483647), x.set(1, -2147483648.0), x.set(2, 2000000000), x.set(3, 1500000000);
  program.expect_same(
      {.grid = {2, 1, 1}, .arguments = {&x, &out, std::int64_t{200}, std::int64_t{1}}});
  EXPECT_THAT(program.text(), Not(HasSubstr("wrap_multiply(stride")));
}

}  // namespace
}  // namespace tilewright
