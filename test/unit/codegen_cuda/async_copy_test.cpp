// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/async_copy_test.cpp — pipelined loops: the emulated text against the interpreter,
// and what NVRTC makes of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "passes/pipeline_loops.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// Rows and columns wrap around, as in Triton's tutorial: their pointers have no formula.
constexpr const char* wrapped_matmul = R"(
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    pid_m = pid // tl.cdiv(N, BN)
    pid_n = pid % tl.cdiv(N, BN)
    offs_am = (pid_m * BM + tl.arange(0, BM)) % M
    offs_bn = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :])
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    offs_cm = pid_m * BM + tl.arange(0, BM)
    offs_cn = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + offs_cn[None, :]
    tl.store(c_ptrs, acc, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))
)";

// Both operands along k, the second one transposed by a view; a row sum beside the product.
constexpr const char* transposed_matmul = R"(
@triton.jit
def transposed(a_ptr, b_ptr, c_ptr, s_ptr, K, BM: tl.constexpr, BN: tl.constexpr,
               BK: tl.constexpr):
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    sums = tl.zeros((BM,), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
        b = tl.load(b_ptr + cols[:, None] * K + ks[None, :])
        acc += tl.dot(a, tl.trans(b))
        sums += tl.sum(a.to(tl.float32), 1)
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)
    tl.store(s_ptr + rows, sums)
)";

int occurrences(const std::string& text, std::string_view what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST(CudaAsyncCopy, WrappedMatmul) {
  const TileProgram program(wrapped_matmul, "matmul",
                            "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, i32:16, i32:16, "
                            "i32:16, 16, 32, 32");
  EXPECT_THAT(program.text(), HasSubstr("tw::copy_async<16>(a_buffer_slot"));
  EXPECT_THAT(program.text(), HasSubstr("tw::copy_async<16>(b_buffer_slot"));
  const Loaded loaded = load_emulated(program.source());
  for (const std::int64_t k : {16, 32, 64, 144}) {
    Memory a = numbers(DType::Float16, static_cast<std::size_t>(48 * k), 1);
    Memory b = numbers(DType::Float16, static_cast<std::size_t>(k * 48), 2);
    Memory c = zeros(DType::Float32, 48 * 48);
    program.expect_same({.grid = {6, 1, 1},
                         .arguments = {&a, &b, &c, std::int64_t{48}, std::int64_t{48}, k, k,
                                       std::int64_t{48}, std::int64_t{48}},
                         .tolerance = 1e-5},
                        loaded);
  }
}

TEST(CudaAsyncCopy, TransposedOperand) {
  const TileProgram program(transposed_matmul, "transposed",
                            "*fp16:16, *fp16:16, *fp32:16, *fp32:16, i32:16, 16, 16, 32");
  EXPECT_THAT(program.text(), HasSubstr("tw::copy_async<16>"));
  const Loaded loaded = load_emulated(program.source());
  for (const std::int64_t k : {0, 32, 64, 160}) {
    Memory a = numbers(DType::Float16, static_cast<std::size_t>(16 * k + 16), 1);
    Memory b = numbers(DType::Float16, static_cast<std::size_t>(16 * k + 16), 2);
    Memory c = zeros(DType::Float32, 16 * 16), sums = zeros(DType::Float32, 16);
    program.expect_same({.arguments = {&a, &b, &c, &sums, k}, .tolerance = 3e-5}, loaded);
  }
}

// What cannot be copied in words goes through registers, into the same slots.
TEST(CudaAsyncCopy, EveryKindOfCopy) {
  for (const char* form : {"%p, %slot", "%q, %slot", "%p, %slot, %m", "%p, %slot, %m, %other"}) {
    SCOPED_TRACE(form);
    const TileProgram program = TileProgram::from_ir(fmt::format(R"(
kernel @copies(%x: *f16 {{divisible = 16}}, %y: *f16, %n: i64) tile {{
  buffer @tiles : f16[8, 32] {{slots = 3}}
  %slot = constant {{value = 2}} : i32
  %zero = constant {{value = 0}} : i64
  %one = constant {{value = 1}} : i64
  %eight = constant {{value = 8}} : i64
  %wide = constant {{value = 32}} : i64
  %other = constant {{value = 2.5}} : f16[8, 32]
  %p = affine %x, %wide, %one : *f16[8, 32]
  %q = affine %x, %one, %eight : *f16[8, 32]
  %m = bounds %zero, %eight, %zero, %n : b1[8, 32]
  copy_async {} {{buffer = "tiles"}}
  commit_copies
  wait_copies {{pending = 0}}
  %t = read_buffer %slot {{buffer = "tiles"}} : f16[8, 32]
  %v = permute %t {{order = [1, 0]}} : f16[32, 8]
  %to = affine %y, %eight, %one : *f16[32, 8]
  store %to, %v
}})",
                                                                 form),
                                                     1);
    Memory x = numbers(DType::Float16, 256, 1);
    Memory y = zeros(DType::Float16, 256);
    program.expect_same({.arguments = {&x, &y, std::int64_t{13}}});
  }
}

// The hot loop copies 16 bytes at a time and meets once in each round.
TEST(CudaAsyncCopy, PtxHasOneBarrierPerRound) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(wrapped_matmul, "matmul",
                            "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, i32:16, i32:16, "
                            "i32:16, 64, 64, 32",
                            4, "sm_80");
  const std::string& text = program.text();
  const std::size_t loop = text.find("#pragma unroll 1");
  ASSERT_NE(loop, std::string::npos);
  const std::size_t end = text.find("slot = next", loop);
  EXPECT_EQ(occurrences(text.substr(loop, end - loop), "__syncthreads()"), 1) << text;
  EXPECT_EQ(occurrences(text.substr(loop, end - loop), "tw::copy_async_if<16>"), 2) << text;
  EXPECT_EQ(occurrences(text.substr(loop, end - loop), "tw::wait_copies<1>"), 1) << text;
  CompileReport report;
  const Binary binary = compile(program.source(), Target::parse("sm_80"), &report);
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << text;
  EXPECT_EQ(resources[0].stack_bytes, 0u) << text;
}

}  // namespace
}  // namespace tilewright
