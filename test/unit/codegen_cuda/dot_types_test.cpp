// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/dot_types_test.cpp — matrix products of every type, of batches and of sizes that no
// instruction has, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

struct Types {
  const char* name;
  DType a, b, c;
  const char* types;        // of a, b and c in a signature
  const char* arguments;    // further ones of tl.dot
  const char* instruction;  // "" without tensor cores
  double tolerance;
  const char* target = "sm_90a";
};

class DotTypes : public ::testing::TestWithParam<std::tuple<Types, bool>> {};

// Both operands with their depth contiguous, or both with the other dimension.
TEST_P(DotTypes, AgreeWithTheInterpreter) {
  const auto& [types, is_depth_contiguous] = GetParam();
  const int m = 32, n = 16, k = 64;
  const std::string python = fmt::format(R"(
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
            A_M: tl.constexpr, A_K: tl.constexpr, B_K: tl.constexpr, B_N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * A_M + k[None, :] * A_K)
    b = tl.load(b_ptr + k[:, None] * B_K + n[None, :] * B_N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b{}))
)",
                                         types.arguments);
  const TileProgram program(python, "product",
                            fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", types.types, m, n, k,
                                        is_depth_contiguous ? k : 1, is_depth_contiguous ? 1 : m,
                                        is_depth_contiguous ? 1 : n, is_depth_contiguous ? k : 1),
                            2, types.target);
  show(program);
  const std::string call =
      *types.instruction == '\0' ? "tw::mma" : fmt::format("tw::{}(", types.instruction);
  EXPECT_EQ(program.text().find(call) != std::string::npos, *types.instruction != '\0');
  // Bytes across the depth come in whole matrices too: pairs of rows, pairs of columns.
  const bool has_pairs = !is_depth_contiguous && size_of(types.a) == 1 && call != "tw::mma_f16(";
  for (const char* read : {"tw::load_bytes_transposed<1>(", "tw::load_bytes_transposed<2>("})
    EXPECT_EQ(program.text().find(read) != std::string::npos, has_pairs) << program.text();
  Memory a = numbers(types.a, m * k, 1);
  Memory b = numbers(types.b, k * n, 2);
  Memory c = zeros(types.c, m * n);
  program.expect_same({.arguments = {&a, &b, &c}, .tolerance = types.tolerance});
}

constexpr DType e4m3 = DType::Float8E4M3, e5m2 = DType::Float8E5M2;
INSTANTIATE_TEST_SUITE_P(
    Cuda, DotTypes,
    ::testing::Combine(
        ::testing::Values(
            Types{"bf16", bf16, bf16, f32, "*bf16:16, *bf16:16, *fp32:16", "", "mma_bf16", 1e-4},
            Types{"f16_sum", f16, f16, f16, "*fp16:16, *fp16:16, *fp16:16",
                  ", out_dtype=tl.float16", "mma_f16", 5e-2},
            Types{"tf32", f32, f32, f32, "*fp32:16, *fp32:16, *fp32:16", "", "mma_tf32", 5e-2},
            Types{"tf32x3", f32, f32, f32, "*fp32:16, *fp32:16, *fp32:16",
                  ", input_precision=\"tf32x3\"", "mma_tf32x3", 1e-4},
            Types{"ieee", f32, f32, f32, "*fp32:16, *fp32:16, *fp32:16",
                  ", input_precision=\"ieee\"", "", 1e-5},
            Types{"i8", i8, i8, i32, "*i8:16, *i8:16, *i32:16", "", "mma_i8", 0},
            Types{"f64", f64, f64, f64, "*fp64:16, *fp64:16, *fp64:16", "", "mma_f64", 1e-12},
            Types{"fp8", e4m3, e5m2, f32, "*fp8e4nv:16, *fp8e5:16, *fp32:16", "", "mma_e4m3_e5m2",
                  1e-3},
            Types{"fp8_widened", e4m3, e4m3, f32, "*fp8e4nv:16, *fp8e4nv:16, *fp32:16", "",
                  "mma_f16", 1e-3, "sm_80"}),
        ::testing::Bool()),
    [](const auto& one) {
      return fmt::format("{}_{}", std::get<0>(one.param).name,
                         std::get<1>(one.param) ? "depth" : "across");
    });

TEST(CudaDot, BatchesOfProducts) {
  const TileProgram program(R"(
@triton.jit
def batched(a_ptr, b_ptr, c_ptr):
    z = tl.arange(0, 4)[:, None, None]
    m = tl.arange(0, 16)[None, :, None]
    n = tl.arange(0, 32)[None, None, :]
    a = tl.load(a_ptr + z * 256 + m * 16 + tl.arange(0, 16)[None, None, :])
    b = tl.load(b_ptr + z * 512 + tl.arange(0, 16)[None, :, None] * 32 + n)
    tl.store(c_ptr + z * 512 + m * 32 + n, tl.dot(a, b))
)",
                            "batched", "*fp16:16, *fp16:16, *fp32:16", 2);
  show(program);
  EXPECT_NE(program.text().find("tw::mma_f16("), std::string::npos);
  Memory a = numbers(f16, 4 * 16 * 16, 1);
  Memory b = numbers(f16, 4 * 16 * 32, 2);
  Memory c = zeros(f32, 4 * 16 * 32);
  program.expect_same({.arguments = {&a, &b, &c}, .tolerance = 1e-4});
}

TEST(CudaDot, FewRowsHaveNoInstruction) {
  const TileProgram program(R"(
@triton.jit
def few(a_ptr, b_ptr, c_ptr):
    m = tl.arange(0, 4)
    n = tl.arange(0, 64)
    k = tl.arange(0, 32)
    a = tl.load(a_ptr + m[:, None] * 32 + k[None, :])
    b = tl.load(b_ptr + k[:, None] * 64 + n[None, :])
    tl.store(c_ptr + m[:, None] * 64 + n[None, :], tl.dot(a, b))
)",
                            "few", "*fp16:16, *fp16:16, *fp32:16", 4);
  EXPECT_EQ(program.text().find("tw::mma"), std::string::npos);
  Memory a = numbers(f16, 4 * 32, 1);
  Memory b = numbers(f16, 32 * 64, 2);
  Memory c = zeros(f32, 4 * 64);
  program.expect_same({.arguments = {&a, &b, &c}, .tolerance = 1e-4});
}

// ---- What the machine gets

struct Tiles {
  int m, n, k, warps;
};
class DotCompile : public ::testing::TestWithParam<std::tuple<Tiles, const char*>> {};

TEST_P(DotCompile, WithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const auto& [tiles, target] = GetParam();
  const TileProgram program(R"(
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, a_row, b_row, c_row,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * a_row + k[None, :]
    b_ptrs = b_ptr + k[:, None] * b_row + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * b_row
    tl.store(c_ptr + m[:, None] * c_row + n[None, :], total.to(tl.float16))
)",
                            "matmul",
                            fmt::format("*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, "
                                        "i32:16, {}, {}, {}",
                                        tiles.m, tiles.n, tiles.k),
                            tiles.warps, target);
  CompileReport report;
  const Binary binary = compile(program.source(), Target::parse(target), &report);
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
  EXPECT_EQ(resources[0].stack_bytes, 0u) << program.text();
  if (getenv("TW_SHOW"))
    printf("%dx%dx%d %d warps %s: %d registers, %zu bytes of code, %.3f s\n", tiles.m, tiles.n,
           tiles.k, tiles.warps, target, resources[0].registers, resources[0].code_bytes,
           report.seconds);
}

INSTANTIATE_TEST_SUITE_P(Cuda, DotCompile,
                         ::testing::Combine(::testing::Values(Tiles{128, 128, 32, 8},
                                                              Tiles{64, 64, 32, 4},
                                                              Tiles{128, 128, 64, 4}),
                                            ::testing::Values("sm_80", "sm_90a")));

// ---- Errors

TEST(CudaDot, WarpsAreAPowerOfTwo) {
  const TileProgram program(R"(
@triton.jit
def copy(x_ptr, y_ptr):
    i = tl.arange(0, 64)
    tl.store(y_ptr + i, tl.load(x_ptr + i))
)",
                            "copy", "*fp16:16, *fp16:16");
  try {
    emit_cuda(program.kernel(), {.target = Target::parse("sm_90a"), .num_warps = 3});
    FAIL() << "3 warps were taken";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(), "num_warps is 3, but must be a power of two from 1 to 32");
  }
}

}  // namespace
}  // namespace tilewright
