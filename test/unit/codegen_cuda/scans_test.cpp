// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/scans_test.cpp — running combinations: along every axis, in both directions, over
// lanes, warps and whole lines, of several values and with the user's own functions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
@triton.jit
def affine(a, b, c, d):
    # x -> a x + b, then x -> c x + d: in this order only.
    return a * c % 101, (b * c + d) % 101

@triton.jit
def last(a, b):
    return b

@triton.jit
def sums(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr,
         REVERSE: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, AXIS, reverse=REVERSE))

@triton.jit
def pairs(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr,
          REVERSE: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i) + 100
    a, b = tl.associative_scan((x % 7 + 1, x % 11), AXIS, affine, reverse=REVERSE)
    tl.store(out_ptr + i, a * 1000 + b)
    tl.store(out_ptr + M * N + i, tl.associative_scan(x, AXIS, last, reverse=REVERSE))

@triton.jit
def blocks(x_ptr, out_ptr, T, M: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    before = tl.zeros([N], tl.int32)
    for t in range(0, T):
        i = (t * M + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :]
        x = tl.load(x_ptr + i)
        tl.store(out_ptr + i, tl.cumsum(x, 0, reverse=REVERSE) + before[None, :])
        before += tl.sum(x, 0)
)";

struct Case {
  int rows, columns, axis, warps;
};

class CudaScan : public ::testing::TestWithParam<std::tuple<Case, bool>> {
 protected:
  static TileProgram program(const char* kernel, const char* types) {
    const auto& [c, is_reverse] = GetParam();
    return TileProgram(source, kernel,
                       fmt::format("{}, {}, {}, {}, {}", types, c.rows, c.columns, c.axis,
                                   is_reverse ? "True" : "False"),
                       c.warps);
  }
  static std::size_t elements() {
    const auto& [c, is_reverse] = GetParam();
    return static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.columns);
  }
};

TEST_P(CudaScan, KeepsTheOrderOfPairs) {
  Memory x = numbers(DType::Int32, elements(), 5);
  Memory out = zeros(DType::Int32, 2 * elements());
  program("pairs", "*i32:16, *i32:16").expect_same({.arguments = {&x, &out}});
}

TEST_P(CudaScan, AddsUp) {
  Memory x = numbers(DType::Float32, elements(), 6);
  Memory out = zeros(DType::Float32, elements());
  program("sums", "*fp32:16, *fp32:16").expect_same({.arguments = {&x, &out}, .tolerance = 1e-4});
}

// One line over several warps, over one, over lanes; more threads than elements; lines for single
// threads, and several lines for each; several chunks of a line per thread; columns of rows; too
// many elements for registers.
INSTANTIATE_TEST_SUITE_P(
    Shapes, CudaScan,
    ::testing::Combine(::testing::Values(Case{1, 512, 1, 4}, Case{1, 64, 1, 4}, Case{2, 128, 1, 4},
                                         Case{16, 8, 0, 2}, Case{8, 32, 0, 1}, Case{64, 4, 1, 1},
                                         Case{4, 2, 1, 1}, Case{1, 2048, 1, 2}, Case{2, 512, 1, 1},
                                         Case{64, 32, 0, 4}, Case{8, 128, 0, 2},
                                         Case{1, 8192, 1, 1}),
                       ::testing::Bool()));

// The slots of one round are not written before those of the round before were read.
TEST(CudaScans, FollowEachOtherInALoop) {
  for (const char* reverse : {"False", "True"}) {
    const TileProgram program(source, "blocks",
                              fmt::format("*i32:16, *i32:16, i32, 32, 64, {}", reverse), 4);
    Memory x = numbers(DType::Int32, std::size_t{5 * 32 * 64}, 7);
    Memory out = zeros(DType::Int32, std::size_t{5 * 32 * 64});
    program.expect_same({.arguments = {&x, &out, std::int64_t{5}}});
    EXPECT_EQ(program.text().find("x_shared"), std::string::npos) << "no tile leaves its registers";
  }
}

}  // namespace
}  // namespace tilewright
