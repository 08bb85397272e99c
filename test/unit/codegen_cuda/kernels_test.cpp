// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/kernels_test.cpp — reductions, loops, branches, atomics, shapes and ops across
// elements, each against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

// ---- Reductions

constexpr const char* reduce_2d = R"(
@triton.jit
def reduce_kernel(x_ptr, rows_ptr, columns_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    tl.store(rows_ptr + m, tl.sum(x, axis=1))
    tl.store(columns_ptr + n, tl.max(x, axis=0))
)";

class ReduceShapes : public ::testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(ReduceShapes, BothAxes) {
  const auto [m, n, warps] = GetParam();
  const TileProgram program(reduce_2d, "reduce_kernel",
                            fmt::format("*fp32:16, *fp32:16, *fp32:16, {}, {}", m, n), warps);
  show(program);
  Memory x = numbers(f32, static_cast<std::size_t>(m * n), 1);
  Memory rows = zeros(f32, static_cast<std::size_t>(m));
  Memory columns = zeros(f32, static_cast<std::size_t>(n));
  program.expect_same({.arguments = {&x, &rows, &columns}, .tolerance = 1e-5});
}

INSTANTIATE_TEST_SUITE_P(Cuda, ReduceShapes,
                         ::testing::Values(std::tuple(1, 1, 1), std::tuple(2, 4, 4),
                                           std::tuple(64, 8, 2), std::tuple(8, 256, 8),
                                           std::tuple(256, 128, 4)));

// Nothing but a reduction of what is there already stands in the branch.
TEST(CudaReduce, AloneInABranchOfALoop) {
  const TileProgram program(R"(
@triton.jit
def rows_kernel(x_ptr, out_ptr, sums, N: tl.constexpr):
    i = tl.arange(0, N)
    place = 0
    for row in range(4):
        x = tl.load(x_ptr + (row + place) * N + i)
        if sums > row:
            s = tl.sum(x, axis=0)
        else:
            s = tl.max(x, axis=0)
        tl.store(out_ptr + row * N + i, x - s)
        place = tl.where(s > 0, 1, 0)
)",
                            "rows_kernel", "*fp32:16, *fp32:16, i32, 64", 2);
  Memory x = numbers(f32, 5 * 64, 3), out = zeros(f32, 4 * 64);
  program.expect_same({.arguments = {&x, &out, std::int64_t{2}}, .tolerance = 1e-5});
}

TEST(CudaReduce, UserCombineOfSeveralValues) {
  const TileProgram program(R"(
@triton.jit
def combine(m0, s0, i0, m1, s1, i1):
    m = tl.maximum(m0, m1)
    return m, s0 * tl.exp(m0 - m) + s1 * tl.exp(m1 - m), tl.where(m0 >= m1, i0, i1)

@triton.jit
def online_kernel(x_ptr, out_ptr, index_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1e30)
    m, s, at = tl.reduce((x, tl.where(i < n, 1.0, 0.0), i), 0, combine)
    tl.store(out_ptr, m)
    tl.store(out_ptr + 1, s)
    tl.store(index_ptr, at)
)",
                            "online_kernel", "*fp32:16, *fp32, *i32, i32, 2048", 4);
  show(program);
  for (std::int64_t n : {1, 257, 2048}) {
    Memory x = numbers(f32, static_cast<std::size_t>(n), 3);
    for (std::int64_t i = 0; i < n; ++i)  // all different: which one wins must not be open
      x.set(static_cast<std::size_t>(i), static_cast<double>((i * 7919) % 2049) / 64);
    Memory out = zeros(f32, 2);
    Memory index = zeros(i32, 1);
    program.expect_same({.arguments = {&x, &out, &index, n}, .tolerance = 1e-4});
  }
}

TEST(CudaReduce, ArgmaxAndMinAndIntegers) {
  const TileProgram program(R"(
@triton.jit
def extremes_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    r = tl.arange(0, ROWS)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r[:, None] * BLOCK + i[None, :])
    tl.store(out_ptr + r, tl.argmax(x, axis=1))
    tl.store(out_ptr + ROWS + r, tl.min(x, axis=1))
    tl.store(out_ptr + 2 * ROWS + r, tl.xor_sum(x, axis=1))
    tl.store(out_ptr + 3 * ROWS, tl.sum(tl.sum(x, axis=0), axis=0))
)",
                            "extremes_kernel", "*i32:16, *i32:16, 64, 16", 4);
  show(program);
  Memory x = numbers(i32, 1024, 5);
  Memory out = zeros(i32, 64);
  program.expect_same({.arguments = {&x, &out}});
}

TEST(CudaReduce, LayerNorm) {
  const TileProgram program(R"(
@triton.jit
def norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = 0.0
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
    mean = tl.sum(acc, axis=0) / N
    var = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
        x = tl.where(columns < N, x - mean, 0.0)
        var += x * x
    rstd = 1 / tl.sqrt(tl.sum(var, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        w = tl.load(w_ptr + columns, mask=mask)
        b = tl.load(b_ptr + columns, mask=mask)
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * stride + columns, (x - mean) * rstd * w + b, mask=mask)
)",
                            "norm_kernel",
                            "*fp16:16, *fp32:16, *fp32:16, *fp16:16, i32:16, i32, fp32, 256");
  show(program);
  Memory x = numbers(f16, 3 * 784, 1);
  Memory w = numbers(f32, 784, 2);
  Memory b = numbers(f32, 784, 3);
  Memory out = zeros(f16, 3 * 784);
  program.expect_same({.grid = {3, 1, 1},
                       .arguments = {&x, &w, &b, &out, std::int64_t{784}, std::int64_t{781}, 1e-5},
                       .tolerance = 2e-3});
}

// ---- Shapes

TEST(CudaShapes, TransposeAndBroadcast) {
  const TileProgram program(R"(
@triton.jit
def transpose_kernel(x_ptr, bias_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    bias = tl.load(bias_ptr + n)
    y = tl.trans(x * 2.0 + bias[None, :]) + tl.sum(x, axis=1)[None, :]
    tl.store(out_ptr + n[:, None] * M + m[None, :], y)
)",
                            "transpose_kernel", "*fp32:16, *fp32:16, *fp32:16, 32, 64", 4);
  show(program);
  Memory x = numbers(f32, 2048, 1);
  Memory bias = numbers(f32, 64, 2);
  Memory out = zeros(f32, 2048);
  program.expect_same({.arguments = {&x, &bias, &out}, .tolerance = 1e-5});
}

TEST(CudaShapes, JoinSplitReshape) {
  const TileProgram program(R"(
@triton.jit
def interleave_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    both = tl.interleave(x, y)
    tl.store(out_ptr + tl.arange(0, 2 * N), both)
    a, b = tl.split(tl.reshape(both + 1.0, (N, 2)))
    tl.store(out_ptr + 2 * N + i, a - b)
    c = tl.reshape(x, (N // 4, 4))
    tl.store(out_ptr + 3 * N + tl.arange(0, N // 4), tl.sum(c, axis=1))
    tl.store(out_ptr + 3 * N + N // 4 + tl.arange(0, 4), tl.sum(c, axis=0))
)",
                            "interleave_kernel", "*fp32:16, *fp32:16, *fp32:16, 256", 2);
  show(program);
  Memory x = numbers(f32, 256, 1);
  Memory y = numbers(f32, 256, 2);
  Memory out = zeros(f32, 1024);
  program.expect_same({.arguments = {&x, &y, &out}, .tolerance = 1e-5});
}

// ---- Across elements

TEST(CudaAcross, ScanGatherConcatenate) {
  const TileProgram program(R"(
@triton.jit
def larger(a, b):
    return tl.maximum(a, b)

@triton.jit
def across_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, axis=0))
    tl.store(out_ptr + N + i, tl.cumsum(x, axis=0, reverse=True))
    tl.store(out_ptr + 2 * N + i, tl.gather(x, (i * 5 + 3) % N, 0))
    tl.store(out_ptr + 3 * N + i, tl.associative_scan(x, 0, larger))
    
    tl.store(out_ptr + 4 * N + 16 + tl.arange(0, 2 * N), tl.cat(x, x + 1, can_reorder=True))
)",
                            "across_kernel", "*i32:16, *i32:16, 128", 4);
  show(program);
  Memory x = numbers(i32, 128, 1);
  Memory out = zeros(i32, 128 * 6 + 16);
  program.expect_same({.arguments = {&x, &out}});
}

TEST(CudaAcross, Histogram) {
  const TileProgram program = TileProgram::from_ir(R"(
kernel @count(%x: *i32, %out: *i32, %n: i64) tile {
  %l0 = constant {value = 0} : i64
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *i32[256]
  %m = bounds %l0, %n : b1[256]
  %v = load %p, %m : i32[256]
  %h = histogram %v, %m : i32[16]
  %q = affine %out, %one : *i32[16]
  store %q, %h
}
)");
  show(program);
  Memory x = numbers(i32, 200, 1);
  Memory out = zeros(i32, 16);
  for (std::size_t i = 0; i < 200; ++i) x.set(i, static_cast<double>(i * i % 16));
  program.expect_same({.arguments = {&x, &out, std::int64_t{200}}});
}

// Carried sums of products, one program, masks and strides as the access forms leave them.
TEST(CudaAcross, MatmulInALoop) {
  const TileProgram program = TileProgram::from_ir(R"(
kernel @matmul(%a: *f16, %b: *f16, %c: *f32, %K: i32, %m: i64, %n: i64) tile {
  %zero = constant {value = 0} : i32
  %step = constant {value = 16} : i32
  %l0 = constant {value = 0} : i64
  %one = constant {value = 1} : i64
  %all = constant {value = 64} : i64
  %K64 = cast %K : i64
  %init = constant {value = 0.5} : f32[32, 64]
  %sum = for %zero, %K, %step, %init : f32[32, 64] (%k: i32, %acc: f32[32, 64]) {
    %ap = offset %a, %k : *f16
    %at = affine %ap, %K64, %one : *f16[32, 16]
    %k64 = cast %k : i64
    %left = sub %K64, %k64 : i64
    %am = bounds %l0, %m, %l0, %left : b1[32, 16]
    %av = load %at, %am : f16[32, 16]
    %row = mul %k64, %n : i64
    %bp = offset %b, %row : *f16
    %bt = affine %bp, %n, %one : *f16[16, 64]
    %bm = bounds %l0, %left, %l0, %n : b1[16, 64]
    %bv = load %bt, %bm : f16[16, 64]
    %next = dot %av, %bv, %acc : f32[32, 64]
    yield %next
  }
  %ct = affine %c, %n, %one : *f32[32, 64]
  %cm = bounds %l0, %m, %l0, %n : b1[32, 64]
  store %ct, %sum, %cm
}
)");
  show(program);
  Memory a = numbers(f16, 27 * 50, 1);
  Memory b = numbers(f16, 50 * 36, 2);
  Memory c = zeros(f32, 27 * 36);
  program.expect_same(
      {.arguments = {&a, &b, &c, std::int64_t{50}, std::int64_t{27}, std::int64_t{36}},
       .tolerance = 1e-4});
}

// ---- Control

TEST(CudaControl, WhileIfAndCarriedTiles) {
  const TileProgram program(R"(
@triton.jit
def control_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    a = x
    b = x * 2
    count = 0
    while tl.max(a, axis=0) < n:
        t = a
        a = b
        b = t + b
        count += 1
    if count % 2 == 0:
        a = a - 1
        c = count * 2
    else:
        a = a + 1
        c = -count
    for j in range(4):
        a = a * 3 + j
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + BLOCK + i, b)
    tl.store(out_ptr + 2 * BLOCK, count)
    tl.store(out_ptr + 2 * BLOCK + 1, c)
)",
                            "control_kernel", "*i32:16, *i32:16, i32, 64", 2);
  show(program);
  for (std::int64_t n : {-1, 500, 5000}) {
    Memory x = numbers(i32, 64, 1);
    for (std::size_t i = 0; i < 64; ++i) x.set(i, static_cast<double>(i % 7) + 1);
    Memory out = zeros(i32, 130);
    program.expect_same({.arguments = {&x, &out, n}});
  }
}

// ---- Atomics

TEST(CudaAtomics, TilesAndScalars) {
  for (int warps : {1, 4}) {
    const TileProgram program(R"(
@triton.jit
def atomic_kernel(x_ptr, sums_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(sums_ptr + x % 8, x, mask=i < n)
    tl.atomic_max(sums_ptr + 8 + tl.arange(0, 4), tl.max(x, axis=0))
    ticket = tl.atomic_add(sums_ptr + 12, 1)
    tl.atomic_xchg(out_ptr + pid, tl.sum(x, axis=0))
    old = tl.atomic_cas(sums_ptr + 13, 0, 7)
    tl.atomic_min(sums_ptr + 14, old)
    tl.atomic_or(sums_ptr + 15, ticket)
)",
                              "atomic_kernel", "*i32:16, *i32:16, *i32:16, i32, 64", warps);
    show(program);
    Memory x = numbers(u32, 150, 1);
    x.dtype = i32;
    Memory sums = zeros(i32, 16);
    Memory out = zeros(i32, 3);
    program.expect_same({.grid = {3, 1, 1}, .arguments = {&x, &sums, &out, std::int64_t{150}}});
  }
}

TEST(CudaAtomics, OldValuesOfASmallTile) {
  const TileProgram program(R"(
@triton.jit
def old_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_add(x_ptr + i, 5.0)
    tl.store(out_ptr + i, old * 2)
    tl.store(out_ptr + BLOCK, tl.sum(old, axis=0))
)",
                            "old_kernel", "*fp32:16, *fp32:16, 16", 4);
  show(program);
  Memory x = numbers(f32, 16, 1);
  Memory out = zeros(f32, 17);
  program.expect_same({.arguments = {&x, &out}, .tolerance = 1e-6});
}

}  // namespace
}  // namespace tilewright
