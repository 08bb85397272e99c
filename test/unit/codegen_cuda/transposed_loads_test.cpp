// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/transposed_loads_test.cpp — tiles whose loads and stores have their neighbours along
// different dimensions: both go in whole vectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* source = R"(
@triton.jit
def transposed(x_ptr, out_ptr, m, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i + j * M, mask=i < m, other=0)
    tl.store(out_ptr + i * N + j, x * 2 + 1)

@triton.jit
def copied_both_ways(x_ptr, out_ptr, also_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * N + j)
    tl.store(out_ptr + i * N + j, x)
    tl.store(also_ptr + i + j * M, x)

@triton.jit
def rounds(x_ptr, out_ptr, T, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    for t in range(0, T):
        x = tl.load(x_ptr + t * M * N + i + j * M)
        tl.store(out_ptr + t * M * N + i * N + j, tl.cumsum(x, 1))
)";

TEST(CudaTransposedLoads, GoThroughSharedMemoryInVectors) {
  const TileProgram program(source, "transposed", "*i32:16, *i32:16, i32:16, 8, 128", 2);
  EXPECT_THAT(program.text(), HasSubstr("tw::load_whole<4"));
  EXPECT_THAT(program.text(), HasSubstr("tw::store_shared<4>(x_shared"));
  EXPECT_THAT(program.text(), HasSubstr("tw::store<4>(out_ptr"));
  Memory x = numbers(DType::Int32, std::size_t{8 * 128}, 3);
  Memory out = zeros(DType::Int32, std::size_t{8 * 128});
  program.expect_same({.arguments = {&x, &out, std::int64_t{8}}});
}

TEST(CudaTransposedLoads, StayInRegistersWhereOneStoreGoesTheirWay) {
  const TileProgram program(source, "copied_both_ways", "*fp32:16, *fp32:16, *fp32:16, 32, 32", 4);
  EXPECT_THAT(program.text(), Not(HasSubstr("x_shared")));
  Memory x = numbers(DType::Float32, std::size_t{32 * 32}, 4);
  Memory out = zeros(DType::Float32, std::size_t{32 * 32});
  Memory also = zeros(DType::Float32, std::size_t{32 * 32});
  program.expect_same({.arguments = {&x, &out, &also}});
}

TEST(CudaTransposedLoads, FollowEachOtherInALoop) {
  for (const char* sizes : {"16, 64", "64, 16", "2, 256"}) {
    const TileProgram program(source, "rounds", std::string("*i32:16, *i32:16, i32, ") + sizes, 4);
    EXPECT_THAT(program.text(), HasSubstr("x_shared"));
    Memory x = numbers(DType::Int32, std::size_t{3 * 1024}, 5);
    Memory out = zeros(DType::Int32, std::size_t{3 * 1024});
    program.expect_same({.arguments = {&x, &out, std::int64_t{3}}});
  }
}

}  // namespace
}  // namespace tilewright
