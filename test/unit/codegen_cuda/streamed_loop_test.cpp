// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/streamed_loop_test.cpp — loops that load more than registers hold go in slices, and
// mean the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cuda/program_shape.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"

namespace tilewright {
namespace {

bool writes(const TileProgram& program, std::string_view text) {
  return program.text().find(text) != std::string::npos;
}

// Four tiles are loaded whose sum and products are stored; 64 elements of each per thread.
constexpr const char* gradients_source = R"(
@triton.jit
def gradients_kernel(a_ptr, b_ptr, c_ptr, d_ptr, w_ptr, v_ptr, sum_ptr, out_ptr, n):
    rows = tl.program_id(0) * 4 + tl.arange(0, 4)[:, None]
    columns = tl.arange(0, 512)[None, :]
    at = rows * 512 + columns
    mask = rows < n
    a = tl.load(a_ptr + at, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + at, mask=mask).to(tl.float32)
    c = tl.load(c_ptr + at, mask=mask).to(tl.float32)
    d = tl.load(d_ptr + at, mask=mask)
    w = tl.load(w_ptr + columns).to(tl.float32)
    total = a + b + c + d.to(tl.float32)
    product = a * w + b * w - c * w
    tl.store(sum_ptr + at, total.to(tl.bfloat16), mask=mask)
    v = tl.load(v_ptr + columns)
    tl.store(out_ptr + at, tl.fma(d, v, product.to(tl.bfloat16)), mask=mask)
)";
constexpr const char* gradients_signature =
    "*bf16:16, *bf16:16, *bf16:16, *bf16:16, *bf16:16, *bf16:16, *bf16:16, *bf16:16, i32";

TEST(CudaStreamedLoop, LoadsAndStoresSliceBySlice) {
  const TileProgram program(gradients_source, "gradients_kernel", gradients_signature, 1);
  EXPECT_TRUE(writes(program, "for (int s = 0; s <")) << program.text();
  EXPECT_FALSE(writes(program, "[64]")) << program.text();  // a whole tile in registers
  for (const std::int64_t n : {8, 7, 3}) {
    std::vector<Memory> tiles;
    for (unsigned i = 0; i < 4; ++i) tiles.push_back(numbers(DType::BFloat16, 4096, i));
    Memory w = numbers(DType::BFloat16, 512, 4), v = numbers(DType::BFloat16, 512, 5);
    Memory sum = zeros(DType::BFloat16, 4096), out = zeros(DType::BFloat16, 4096);
    program.expect_same(
        {.grid = {2, 1, 1},
         .arguments = {&tiles[0], &tiles[1], &tiles[2], &tiles[3], &w, &v, &sum, &out, n}});
  }
}

TEST(CudaStreamedLoop, SpillsNothing) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(gradients_source, "gradients_kernel", gradients_signature, 1);
  const auto resources = resources_of(compile(program.source(), Target::parse("sm_90a")));
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
}

// What a slice stores is what a later slice would load: everything is loaded first.
TEST(CudaStreamedLoop, ReadsATileBeforeItIsOverwrittenElsewhere) {
  const TileProgram program(R"(
@triton.jit
def shift_kernel(x_ptr, y_ptr, z_ptr, w_ptr):
    at = tl.arange(0, 2048)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    z = tl.load(z_ptr + at)
    w = tl.load(w_ptr + at)
    tl.store(x_ptr + at + 1, x + y * z - w)
    tl.store(y_ptr + 2047 - at, x - y * z + w)
)",
                            "shift_kernel", "*fp32:16, *fp32:16, *fp32:16, *fp32:16", 1);
  std::vector<Memory> rows;
  for (unsigned i = 0; i < 4; ++i) rows.push_back(numbers(DType::Float32, 2049, i));
  program.expect_same({.arguments = {&rows[0], &rows[1], &rows[2], &rows[3]}, .tolerance = 1e-6});
}

constexpr const char* mean_source = R"(
@triton.jit
def mean_kernel(x_ptr, out_ptr, rows):
    t = tl.program_id(0) * 64 + tl.arange(0, 64)
    d = tl.arange(0, 64)
    x = tl.load(x_ptr + t[:, None] * 64 + d[None, :], mask=(t < rows)[:, None], other=0.0)
    mean = tl.sum(x.to(tl.float32), axis=0) / rows
    tl.store(out_ptr + tl.program_id(0) * 64 + d, mean)
)";

// A sum over warps for each of 64 columns costs more than a longer loop.
TEST(CudaStreamedLoop, ColumnsAreSummedByTheWarpsThatWereAskedFor) {
  const TileProgram program(mean_source, "mean_kernel", "*bf16:16, *fp32:16, i32", 1);
  EXPECT_FALSE(has_too_few_warps(program.kernel(), Target::parse("sm_80"), 1));
  EXPECT_TRUE(writes(program, "bf16 x_tile[64];")) << program.text();  // of 128 elements
  for (const std::int64_t rows : {128, 100, 5}) {
    Memory x = numbers(DType::BFloat16, 128 * 64, 1);
    Memory out = zeros(DType::Float32, 128);
    program.expect_same({.grid = {2, 1, 1}, .arguments = {&x, &out, rows}, .tolerance = 1e-5});
  }
}

TEST(CudaStreamedLoop, TilesThatAreKeptGetMoreWarps) {
  const TileProgram kept(R"(
@triton.jit
def centre_kernel(x_ptr, out_ptr):
    t = tl.arange(0, 64)
    at = t[:, None] * 64 + t[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, x - tl.sum(x, axis=0)[None, :])
)",
                         "centre_kernel", "*fp32:16, *fp32:16", 1);
  EXPECT_TRUE(has_too_few_warps(kept.kernel(), Target::parse("sm_80"), 1));
  EXPECT_FALSE(has_too_few_warps(kept.kernel(), Target::parse("sm_80"), 2));
}

// Sums of `terms` products of a tile and of weights, for each of four streams: 128 elements of the
// result per thread of a warp.
std::string streams_source(int terms) {
  std::string sum = "0.0";
  for (int i = 0; i < terms; ++i)
    sum += fmt::format(
        " + tl.load(x_ptr + {0} * 1024 + at)[None, :, :] * tl.load(w_ptr + {0} * 64 + weights)[:, "
        ":, None]",
        i);
  return fmt::format(R"(
@triton.jit
def streams_kernel(x_ptr, w_ptr, out_ptr):
    h = tl.arange(0, 4)
    at = tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :]
    weights = h[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out_ptr + h[:, None, None] * 1024 + at[None, :, :], {})
)",
                     sum);
}

void expect_same_streams(const TileProgram& program, std::size_t terms) {
  Memory x = numbers(DType::Float32, terms * 1024, 1), w = numbers(DType::Float32, terms * 64, 2);
  Memory out = zeros(DType::Float32, 4096);
  program.expect_same({.arguments = {&x, &w, &out}, .tolerance = 1e-5});
}

// An array whose index is known only when the kernel runs lies in memory.
TEST(CudaStreamedLoop, SlicesThatReadRegistersAreUnrolled) {
  const TileProgram program(streams_source(1), "streams_kernel", "*fp32:16, *fp32:16, *fp32:16", 1);
  EXPECT_TRUE(writes(program, "#pragma unroll\n  for (int s = 0; s <")) << program.text();
  EXPECT_FALSE(writes(program, "#pragma unroll 1\n")) << program.text();
  expect_same_streams(program, 1);
}

TEST(CudaStreamedLoop, ThreadsThatHoldTooMuchGetMoreWarps) {
  const TileProgram given(streams_source(4), "streams_kernel", "*fp32:16, *fp32:16, *fp32:16", 1);
  ASSERT_TRUE(has_too_few_warps(given.kernel(), Target::parse("sm_90a"), 1));
  const TileProgram chosen =
      given.with({.target = Target::parse("sm_90a"), .num_warps = 1, .chooses_shape = true});
  EXPECT_TRUE(writes(given, "__launch_bounds__(32)")) << given.text();
  EXPECT_TRUE(writes(chosen, "__launch_bounds__(64)")) << chosen.text();
  expect_same_streams(given, 4);
  expect_same_streams(chosen, 4);
}

// Vectors that are stored whole where they are inside: under a predicate, not behind a branch.
TEST(CudaStreamedLoop, WholeVectorsAreStoredUnderAPredicate) {
  const TileProgram program(R"(
@triton.jit
def scale_rows(x_ptr, w_ptr, out_ptr, n, k):
    row = tl.program_id(0) * 64 + tl.arange(0, 64)[:, None]
    column = tl.arange(0, 32)[None, :]
    mask = (row < n) & (column < k)
    x = tl.load(x_ptr + row * k + column, mask=mask, other=0.0)
    w = tl.load(w_ptr + column, mask=column < k, other=0.0)
    tl.store(out_ptr + row * k + column, x * w, mask=mask)
)",
                            "scale_rows", "*fp16:16, *fp16:16, *fp16:16, i32, i32:16", 2);
  EXPECT_TRUE(writes(program, "tw::store_whole<8, 8, tw::Cache::Together>")) << program.text();
  for (const std::int64_t n : {128, 77, 0})
    for (const std::int64_t k : {32, 16}) {
      Memory x = numbers(DType::Float16, 128 * 32, 1), w = numbers(DType::Float16, 32, 2);
      Memory out = zeros(DType::Float16, 128 * 32);
      program.expect_same({.grid = {2, 1, 1}, .arguments = {&x, &w, &out, n, k}});
    }
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  for (const char* target : {"sm_80", "sm_90a"})
    EXPECT_EQ(resources_of(compile(program.source(), Target::parse(target))).front().stack_bytes,
              0u);
}

}  // namespace
}  // namespace tilewright
