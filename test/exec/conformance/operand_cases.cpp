// SPDX-License-Identifier: Apache-2.0
// conformance/operand_cases.cpp — where operands lie: products of batches, of constants and of a
// tile with itself, indices that are consecutive or not, sums of small floats along rows, atomics
// that never happen.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const product_source = R"(
@triton.jit
def batches(a_ptr, b_ptr, c_ptr, B: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SHARED: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    i = tl.arange(0, N)[None, :, None]
    k = tl.arange(0, K)[None, :, None]
    a = tl.load(a_ptr + (batch * N + i) * K + tl.arange(0, K)[None, None, :])
    if SHARED:
        one = tl.load(b_ptr + k * N + tl.arange(0, N)[None, None, :])
        b = tl.broadcast_to(one, (B, K, N))
    else:
        b = tl.load(b_ptr + (batch * K + k) * N + tl.arange(0, N)[None, None, :])
    c = tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + (batch * N + i) * N + tl.arange(0, N)[None, None, :], c)

@triton.jit
def constants(a_ptr, c_ptr, d_ptr, rows, N: tl.constexpr):
    i = tl.arange(0, N)[:, None]
    at = i * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + at, mask=i < rows, other=1)
    half = tl.full((N, N), 0.5, a.dtype)
    tl.store(c_ptr + at, tl.dot(a, half, input_precision="ieee"))
    tl.store(d_ptr + at, tl.dot(a, tl.trans(a), input_precision="ieee"))
)";

Family products() {
  Family family{"operands", product_source, {}};
  for (const bool shared : {false, true})
    family.cases.push_back(
        {.what = shared ? "one right operand" : "a right operand each",
         .kernel = "batches",
         .arguments = {input(f32, 4 * 16 * 32), input(f32, 4 * 32 * 16), output(f32, 4 * 16 * 16),
                       constant_of("B", 4), constant_of("N", 16), constant_of("K", 32),
                       constant_of("SHARED", shared)},
         .ulps = 4,
         .magnitude = 32});
  for (const DType dtype : {f32, f16})
    for (const std::int64_t rows : {16, 9})
      family.cases.push_back({.what = fmt::format("{} {} rows", name_of(dtype), rows),
                              .kernel = "constants",
                              .arguments = {input(dtype, 16 * 16), output(f32, 16 * 16),
                                            output(f32, 16 * 16), rows, constant_of("N", 16)},
                              .ulps = 4,
                              .magnitude = 16});
  return family;
}

const char* const row_source = R"(
@triton.jit
def picked_rows(index_ptr, x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr):
    picked = tl.load(index_ptr + tl.arange(0, C)) % n
    r = tl.arange(0, R)[:, None]
    x = tl.load(x_ptr + r * n + picked[None, :])
    tl.store(out_ptr + r * C + tl.arange(0, C)[None, :], x + tl.max(picked, 0))

@triton.jit
def column_sums(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    c = tl.arange(0, C)
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + c[None, :])
    tl.store(out_ptr + c, tl.sum(x, 0))

@triton.jit
def never(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    old = tl.atomic_add(x_ptr + i, 1, mask=i < 0)
    tl.store(out_ptr + i, old + i)
)";

Family picked_elements() {
  Family family{"picked", row_source, {}};
  for (const Fill fill : {Fill::Index, Fill::Positive})
    family.cases.push_back(
        {.what = fill == Fill::Index ? "consecutive" : "in any order",
         .kernel = "picked_rows",
         .arguments = {input(i32, 32, fill), input(f32, 8 * 40), output(f32, 8 * 32), whole(40),
                       constant_of("R", 8), constant_of("C", 32)}});
  for (const DType dtype : {f16, bf16})
    family.cases.push_back({.what = fmt::format("{}", name_of(dtype)),
                            .kernel = "column_sums",
                            .arguments = {input(dtype, 16 * 64), output(dtype, 64),
                                          constant_of("R", 16), constant_of("C", 64)},
                            .ulps = 2,
                            .magnitude = 16});
  family.cases.push_back({.what = "no element",
                          .kernel = "never",
                          .arguments = {input(i32, 32), output(i32, 32), constant_of("N", 32)},
                          .exact = true});
  return family;
}

std::vector<Family> operand_families() { return {products(), picked_elements()}; }

TW_CONFORMANCE(Operands, operand_families);

}  // namespace
}  // namespace tilewright::conformance
