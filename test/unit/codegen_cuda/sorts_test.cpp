// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/sorts_test.cpp — sorting networks within threads, over lanes and over warps: of all
// types, of rows, in both orders, with NaN, and the best k.
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
@triton.jit
def both_ways(x_ptr, up_ptr, down_ptr, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(up_ptr + i, tl.sort(x))
    tl.store(down_ptr + i, tl.sort(x, descending=True))

@triton.jit
def best(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    o = tl.arange(0, R)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(out_ptr + o, tl.topk(tl.load(x_ptr + i), K))

@triton.jit
def in_turns(x_ptr, out_ptr, T, C: tl.constexpr):
    for t in range(0, T):
        i = t * C + tl.arange(0, C)
        tl.store(out_ptr + i, tl.sort(tl.sort(tl.load(x_ptr + i)) % 5))
)";

struct Case {
  int rows, columns, warps;
  DType dtype;
  const char* name;
};

class CudaSort : public ::testing::TestWithParam<Case> {
 protected:
  static std::size_t elements() {
    return static_cast<std::size_t>(GetParam().rows) * static_cast<std::size_t>(GetParam().columns);
  }
  static Memory values() {
    Memory out = numbers(GetParam().dtype, elements(), 11);
    const DType dtype = GetParam().dtype;
    if (dtype == DType::Float32 || dtype == DType::Float16)
      for (std::size_t i = 3; i < out.count(); i += 37)
        out.set(i, i % 2 == 0 ? -0.0 : std::numeric_limits<double>::quiet_NaN());
    return out;
  }
};

TEST_P(CudaSort, GoesBothWays) {
  const Case& c = GetParam();
  Memory x = values();
  Memory up = zeros(c.dtype, elements());
  Memory down = zeros(c.dtype, elements());
  TileProgram(source, "both_ways",
              fmt::format("*{0}:16, *{0}:16, *{0}:16, {1}, {2}", c.name, c.rows, c.columns),
              c.warps)
      .expect_same({.arguments = {&x, &up, &down}});
}

TEST_P(CudaSort, FindsTheBest) {
  const Case& c = GetParam();
  const int k = std::max(c.columns / 8, 1);
  Memory x = values();
  Memory out = zeros(c.dtype, static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(k));
  TileProgram(source, "best",
              fmt::format("*{0}:16, *{0}:16, {1}, {2}, {3}", c.name, c.rows, c.columns, k), c.warps)
      .expect_same({.arguments = {&x, &out}});
}

// Within threads and lanes; over four warps; more warps than the elements need; more bits over
// warps than within threads; more elements than registers.
INSTANTIATE_TEST_SUITE_P(Shapes, CudaSort,
                         ::testing::Values(Case{1, 8, 1, DType::Float32, "fp32"},
                                           Case{4, 32, 1, DType::Int8, "i8"},
                                           Case{1, 2048, 4, DType::Float32, "fp32"},
                                           Case{2, 512, 2, DType::Float16, "fp16"},
                                           Case{1, 256, 8, DType::Int64, "i64"},
                                           Case{1, 1024, 16, DType::Int32, "i32"},
                                           Case{1, 4096, 1, DType::BFloat16, "bf16"}));

// What one sort leaves in shared memory has been read before the next one writes there.
TEST(CudaSorts, FollowEachOtherInALoop) {
  Memory x = numbers(DType::Int32, std::size_t{3 * 512}, 7);
  Memory out = zeros(DType::Int32, std::size_t{3 * 512});
  TileProgram(source, "in_turns", "*i32:16, *i32:16, i32, 512", 4)
      .expect_same({.arguments = {&x, &out, std::int64_t{3}}});
}

}  // namespace
}  // namespace tilewright
