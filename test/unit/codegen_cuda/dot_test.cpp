// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/dot_test.cpp — matrix products by tensor cores and without, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel_sources.h"
#include "tile_program.h"

namespace tilewright {
namespace {

struct Product {
  int m, n, k;
  int warps;
  bool is_a_transposed = false, is_b_transposed = false;
};
class Products : public ::testing::TestWithParam<Product> {};

TEST_P(Products, OfHalfs) {
  const Product p = GetParam();
  const TileProgram program(
      one_product, "product",
      fmt::format("*fp16:16, *fp16:16, *fp32:16, {}, {}, {}, {}, {}, {}, {}", p.m, p.n, p.k,
                  p.is_a_transposed ? 1 : p.k, p.is_a_transposed ? p.m : 1,
                  p.is_b_transposed ? 1 : p.n, p.is_b_transposed ? p.k : 1),
      p.warps, "sm_80");
  show(program);
  EXPECT_NE(program.text().find("tw::mma_f16("), std::string::npos);
  EXPECT_NE(program.text().find(p.is_a_transposed ? "tw::load_matrices_transposed<"
                                                  : "tw::load_matrices<"),
            std::string::npos);
  Memory a = numbers(f16, static_cast<std::size_t>(p.m * p.k), 1);
  Memory b = numbers(f16, static_cast<std::size_t>(p.k * p.n), 2);
  Memory c = zeros(f32, static_cast<std::size_t>(p.m * p.n));
  program.expect_same({.arguments = {&a, &b, &c}, .tolerance = 1e-4});
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, Products,
    ::testing::Values(Product{16, 16, 16, 1}, Product{32, 16, 64, 1}, Product{64, 64, 32, 4},
                      Product{16, 128, 16, 4}, Product{128, 32, 32, 8}, Product{16, 16, 32, 8},
                      Product{64, 32, 32, 2, true, false}, Product{32, 64, 32, 4, false, true},
                      Product{32, 32, 128, 4, true, true}, Product{16, 8, 16, 1}));

// ---- Loops

constexpr const char* matmul = R"(
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
           GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_n
    group = pid // in_group
    first_m = group * GROUP_M
    group_size = min(num_m - first_m, GROUP_M)
    pid_m = first_m + ((pid % in_group) % group_size)
    pid_n = (pid % in_group) // group_size
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + k[None, :]
    b_ptrs = b_ptr + k[:, None] * stride_bk + columns[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - i * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - i * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    c = acc.to(tl.float16)
    out_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * out_m[:, None] + out_n[None, :]
    tl.store(c_ptrs, c, mask=(out_m[:, None] < M) & (out_n[None, :] < N))
)";

TEST(CudaDot, MatmulOfSizesThatAreNoMultiples) {
  const TileProgram program(
      matmul, "matmul", "*fp16:16, *fp16:16, *fp16:16, i32, i32, i32, i32, i32, i32, 32, 64, 32, 2",
      4);
  show(program);
  const std::int64_t m = 70, n = 100, k = 50;
  Memory a = numbers(f16, static_cast<std::size_t>(m * k), 1);
  Memory b = numbers(f16, static_cast<std::size_t>(k * n), 2);
  Memory c = zeros(f16, static_cast<std::size_t>(m * n));
  program.expect_same(
      {.grid = {3 * 2, 1, 1}, .arguments = {&a, &b, &c, m, n, k, k, n, n}, .tolerance = 2e-3});
}

TEST(CudaDot, MatmulWithAlignedRows) {
  const TileProgram program(matmul, "matmul",
                            "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, i32:16, "
                            "i32:16, 64, 32, 32, 2",
                            2);
  show(program);
  const std::int64_t m = 64, n = 64, k = 96;
  Memory a = numbers(f16, static_cast<std::size_t>(m * k), 1);
  Memory b = numbers(f16, static_cast<std::size_t>(k * n), 2);
  Memory c = zeros(f16, static_cast<std::size_t>(m * n));
  program.expect_same(
      {.grid = {2, 1, 1}, .arguments = {&a, &b, &c, m, n, k, k, n, n}, .tolerance = 2e-3});
}

// Attention: the second product takes what the first one's threads hold.
TEST(CudaDot, AttentionKeepsProbabilitiesInRegisters) {
  const TileProgram program(R"(
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, n, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              D: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    j = tl.arange(0, BLOCK_N)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    largest = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, n, BLOCK_N):
        k = tl.load(k_ptr + (start + j)[:, None] * D + d[None, :])
        v = tl.load(v_ptr + (start + j)[:, None] * D + d[None, :])
        qk = tl.dot(q, tl.trans(k)) * scale
        now = tl.maximum(largest, tl.max(qk, 1))
        p = tl.exp2(qk - now[:, None])
        alpha = tl.exp2(largest - now)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.float16), v, acc)
        largest = now
    acc = acc / total[:, None]
    tl.store(out_ptr + m[:, None] * D + d[None, :], acc.to(tl.float16))
)",
                            "attention",
                            "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, fp32, 64, 32, 32", 4);
  show(program);
  EXPECT_NE(program.text().find("tw::word_of("), std::string::npos);
  Memory q = numbers(f16, 64 * 32, 1);
  Memory k = numbers(f16, 64 * 32, 2);
  Memory v = numbers(f16, 64 * 32, 3);
  Memory out = zeros(f16, 64 * 32);
  program.expect_same({.arguments = {&q, &k, &v, &out, std::int64_t{64}, 0.1}, .tolerance = 2e-3});
}

}  // namespace
}  // namespace tilewright
