// SPDX-License-Identifier: Apache-2.0
// conformance/program_cases.cpp — control flow, helper functions, dot, and random numbers.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const control_source = R"(
@triton.jit
def carried(x_ptr, out_ptr, n, rounds, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i, mask=i < n, other=0)
    b = tl.zeros_like(a)
    count = 0
    for k in range(rounds):
        a, b = b + k, a
        count += k
        for j in range(k, 0, -2):
            b = b * 3 + j
            count = count * 2 + j
    tl.store(out_ptr + i, a - b + count, mask=i < n)

@triton.jit
def collatz(x_ptr, out_ptr, n):
    at = tl.program_id(0)
    if at >= n:
        return
    value = tl.load(x_ptr + at)
    steps = 0
    while value != 1 and steps < 200:
        if value % 2 == 0:
            value = value // 2
        else:
            value = value * 3 + 1
        steps += 1
    tl.store(out_ptr + at, steps)

@triton.jit
def branched(x_ptr, out_ptr, n, mode, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if mode > 2:
        y = x * 2
        z = tl.sum(x, 0)
    elif mode == 2:
        y = x + i
        z = tl.max(x, 0)
    else:
        y = -x
        z = tl.min(x, 0) + mode
    tl.store(out_ptr + i, y + z if mode > 0 else y, mask=i < n)

@triton.jit
def square(x, scale: tl.constexpr = 2):
    if scale == 2:
        return x * x
    return x * x * scale

@triton.jit
def early(x, limit):
    if limit < 0:
        return -x, 0
    return x + limit, 1

@triton.jit
def helped(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y, flag = early(square(x), limit)
    if WIDE:
        y += square(x, scale=3)
    for u in tl.static_range(3):
        y += u * flag
    tl.store(out_ptr + i, y, mask=i < n)

@triton.jit
def tiles_in_while(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    rounds = 0
    while tl.max(x, 0) > 10:
        x = x // 2
        rounds += 1
    tl.store(out_ptr + i, x * 100 + rounds, mask=i < n)

@triton.jit
def persistent(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        total = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), 0)
        if total % 2 == 0:
            tl.store(out_ptr + i, total + i, mask=i < n)
)";

Family control() {
  Family family{"control", control_source, {}};
  const auto add = [&](const char* kernel, std::vector<CaseArgument> arguments, Dim3 grid = {}) {
    family.cases.push_back({.what = fmt::format("{}", family.cases.size()),
                            .kernel = kernel,
                            .arguments = std::move(arguments),
                            .grid = grid,
                            .magnitude = 16});
  };
  for (const std::int64_t rounds : {0, 1, 2, 7})
    add("carried",
        {input(i32, 100), output(i32, 100), whole(100), rounds, constant_of("BLOCK", 128)});
  add("collatz", {input(i32, 20, Fill::Positive), output(i32, 20), whole(17)}, 20);
  for (const std::int64_t mode : {0, 1, 2, 3})
    for (const DType dtype : {i32, f32})
      add("branched", {input(dtype, 100, Fill::Small), output(dtype, 100), whole(100), mode,
                       constant_of("BLOCK", 128)});
  for (const std::int64_t limit : {-3, 0, 5})
    add("helped", {input(i64, 50), output(i64, 50), whole(50), limit, constant_of("BLOCK", 64),
                   constant_of("WIDE", limit == 5)});
  for (const std::int64_t n : {1, 63})
    add("tiles_in_while", {input(i32, n), output(i32, n), n, constant_of("BLOCK", 64)});
  for (const std::int64_t n : {1, 500})
    add("persistent", {input(i32, n), output(i32, n), n, constant_of("BLOCK", 64)}, 3);
  return family;
}

const char* const dot_source = R"(
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           ACC: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :],
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, input_precision="ieee", out_dtype=ACC)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))

@triton.jit
def scores(q_ptr, k_ptr, out_ptr, S: tl.constexpr, D: tl.constexpr):
    r = tl.arange(0, S)[:, None]
    q = tl.load(q_ptr + r * D + tl.arange(0, D)[None, :])
    k = tl.load(k_ptr + r * D + tl.arange(0, D)[None, :])
    s = tl.dot(q, tl.trans(k)) * 0.25
    p = tl.exp(s - tl.max(s, 1)[:, None])
    o = tl.dot(p.to(k.dtype), k) / tl.sum(p, 1)[:, None]
    tl.store(out_ptr + r * D + tl.arange(0, D)[None, :], o)
)";

Family dots() {
  Family family{"dot", dot_source, {}};
  for (const DType dtype : {f32, f16, bf16, i8})
    for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 1, 1},
                                  {16, 16, 32},
                                  {33, 20, 40}})
      family.cases.push_back(
          {.what = fmt::format("{} {}x{}x{}", name_of(dtype), m, n, k),
           .kernel = "matmul",
           .arguments = {input(dtype, m * k), input(dtype, k * n),
                         output(dtype == i8 ? i32 : f32, m * n), m, n, k, constant_of("BM", 16),
                         constant_of("BN", 16), constant_of("BK", 32),
                         constant_of("ACC", dtype == i8 ? i32 : f32)},
           .grid = {cdiv(m, 16), cdiv(n, 16)},
           .ulps = 4,
           // k products of about 1 are added one after another, whatever is left of them.
           .magnitude = static_cast<double>(k)});
  for (const DType dtype : {f16, bf16})
    family.cases.push_back(
        {.what = fmt::format("{}", name_of(dtype)),
         .kernel = "scores",
         .arguments = {input(dtype, 32 * 16), input(dtype, 32 * 16), output(dtype, 32 * 16),
                       constant_of("S", 32), constant_of("D", 16)},
         .ulps = 3,
         .magnitude = 1});
  return family;
}

// Programs that share a result: each waits for its turn, or takes whichever is free.
const char* const turns_source = R"(
@triton.jit
def stream_k(a_ptr, b_ptr, c_ptr, turn_ptr, K, N: tl.constexpr, BK: tl.constexpr):
    part = tl.program_id(0)
    each = tl.cdiv(K, tl.num_programs(0) * BK) * BK
    i = tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for start in range(part * each, min(part * each + each, K), BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=k[None, :] < K, other=0)
        b = tl.load(b_ptr + k[:, None] * N + i[None, :], mask=k[:, None] < K, other=0)
        acc = tl.dot(a, b, acc)
    at = i[:, None] * N + i[None, :]
    while tl.atomic_cas(turn_ptr, part, part) != part:
        pass
    tl.store(c_ptr + at, tl.load(c_ptr + at) + acc)
    tl.debug_barrier()
    tl.atomic_xchg(turn_ptr, part + 1)
)";

Family turns() {
  Family family{"turns", turns_source, {}};
  for (const DType dtype : {f16, bf16})
    family.cases.push_back(
        {.what = fmt::format("{}", name_of(dtype)),
         .kernel = "stream_k",
         .arguments = {input(dtype, 32 * 150), input(dtype, 150 * 32),
                       input(f32, 32 * 32, Fill::Zero), input(i32, 1, Fill::Zero), whole(150),
                       constant_of("N", 32), constant_of("BK", 32)},
         .grid = 8,  // more than threads: the late ones wait for those not begun
         .ulps = 4,
         .magnitude = 150});
  return family;
}

const char* const random_source = R"(
@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out_ptr + i, tl.where(keep, x * 2, 0.0), mask=i < n)

@triton.jit
def numbers(uniform_ptr, normal_ptr, whole_ptr, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(uniform_ptr + i, tl.rand(seed, i))
    tl.store(normal_ptr + i, tl.randn(seed, i))
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(whole_ptr + i, tl.randint(seed, i) ^ a ^ (b >> 1) ^ (c << 2) ^ d)
)";

Family randoms() {
  Family family{"random", random_source, {}};
  for (const DType dtype : {f32, f16})
    for (const std::int64_t n : {1, 511})
      family.cases.push_back({.what = fmt::format("{} n={}", name_of(dtype), n),
                              .kernel = "dropout",
                              .arguments = {input(dtype, n), output(dtype, n), n, 0.3, whole(123),
                                            constant_of("BLOCK", 256)},
                              .grid = 2,
                              .exact = true});
  for (const std::int64_t seed : {std::int64_t{0}, std::int64_t{1} << 40})
    family.cases.push_back({.what = fmt::format("seed {}", seed),
                            .kernel = "numbers",
                            .arguments = {output(f32, 256), output(f32, 256), output(i32, 256),
                                          seed, constant_of("BLOCK", 128)},
                            .grid = 2,
                            .ulps = 4,
                            .magnitude = 0.01});
  return family;
}

std::vector<Family> program_families() { return {control(), dots(), turns(), randoms()}; }

TW_CONFORMANCE(Program, program_families);

}  // namespace
}  // namespace tilewright::conformance
