// SPDX-License-Identifier: Apache-2.0
// conformance/movement_cases.cpp — scans, sorting, histograms, and all that only moves elements.
#include <array>

#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const scan_source = R"(
@triton.jit
def cumulate(x_ptr, sum_ptr, back_ptr, product_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + i, mask=mask, other=0)
    tl.store(sum_ptr + i, tl.cumsum(x, 0), mask=mask)
    tl.store(back_ptr + i, tl.cumsum(x, 0, reverse=True), mask=mask)
    tl.store(product_ptr + i, tl.cumprod(x * 0 + 1 + x % 2, 0), mask=mask)

@triton.jit
def step(decay_a, value_a, decay_b, value_b):
    at = decay_b * value_a
    return decay_a * decay_b, at + value_b

@triton.jit
def recurrence(a_ptr, x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr,
               AXIS: tl.constexpr, REVERSE: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    at = r * columns + c
    mask = (r < rows) & (c < columns)
    a = tl.load(a_ptr + at, mask=mask, other=1.0).to(tl.float32)
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    _, h = tl.associative_scan((a, x), AXIS, step, reverse=REVERSE)
    tl.store(out_ptr + at, h, mask=mask)
)";

Family scans() {
  Family family{"scan", scan_source, {}};
  for (const DType dtype : {i32, i64, i8})
    for (const std::int64_t n : {1, 33, 256})
      family.cases.push_back(
          {.what = fmt::format("{} n={}", name_of(dtype), n),
           .kernel = "cumulate",
           .arguments = {input(dtype, 2 * n, Fill::Small), output(dtype, 2 * n),
                         output(dtype, 2 * n), output(dtype, 2 * n), n, constant_of("BLOCK", 256)},
           .grid = 2});
  for (const DType dtype : {f32, f16})
    for (const int axis : {0, 1})
      for (const bool reverse : {false, true})
        family.cases.push_back(
            {.what = fmt::format("{} axis {}{}", name_of(dtype), axis, reverse ? " back" : ""),
             .kernel = "recurrence",
             .arguments = {input(dtype, 13 * 30, Fill::Unit), input(dtype, 13 * 30),
                           output(f32, 13 * 30), whole(13), whole(30), constant_of("R", 16),
                           constant_of("C", 32), constant_of("AXIS", axis),
                           constant_of("REVERSE", reverse)},
             .ulps = 4,
             .magnitude = 4});
  return family;
}

const char* const order_source = R"(
@triton.jit
def sorted_row(x_ptr, up_ptr, down_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(up_ptr + i, tl.sort(x))
    tl.store(down_ptr + i, tl.sort(x, descending=True))

@triton.jit
def best_of_rows(x_ptr, sorted_ptr, best_ptr, least_ptr, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    at = r * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(sorted_ptr + at, tl.sort(x, descending=True))
    best = r * K + tl.arange(0, K)[None, :]
    tl.store(best_ptr + best, tl.topk(x, K))
    tl.store(least_ptr + best, tl.topk(x, K, descending=False))

@triton.jit
def counted(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.int32)
    bins = tl.histogram(x, BINS, mask=i < n)
    tl.store(out_ptr + tl.arange(0, BINS), bins)

@triton.jit
def gathered(x_ptr, index_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    x = tl.load(x_ptr + r * C + tl.arange(0, C)[None, :])
    at = r * K + tl.arange(0, K)[None, :]
    index = tl.load(index_ptr + at) % C
    tl.store(out_ptr + at, tl.gather(x, index, axis=1))

@triton.jit
def scattered(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0).to(tl.int64) % n
    tl.store(out_ptr + i, tl.load(x_ptr + index, mask=i < n), mask=i < n)
)";

Family order() {
  Family family{"order", order_source, {}};
  for (const DType dtype : {i32, f32, f16, u8})
    for (const int block : {1, 16, 128})
      family.cases.push_back({.what = fmt::format("{} {}", name_of(dtype), block),
                              .kernel = "sorted_row",
                              .arguments = {input(dtype, 2 * block), output(dtype, 2 * block),
                                            output(dtype, 2 * block), constant_of("BLOCK", block)},
                              .grid = 2,
                              .exact = true});
  for (const DType dtype : {i32, f32})
    for (const auto& [rows, columns, best] : {std::array{4, 64, 8}, {1, 1024, 64}, {8, 4, 4}})
      family.cases.push_back(
          {.what = fmt::format("{} {} of {} x {}", name_of(dtype), best, rows, columns),
           .kernel = "best_of_rows",
           .arguments = {input(dtype, rows * columns), output(dtype, rows * columns),
                         output(dtype, rows * best), output(dtype, rows * best),
                         constant_of("R", rows), constant_of("C", columns), constant_of("K", best)},
           .exact = true});
  for (const std::int64_t n : {1, 77, 512})
    family.cases.push_back({.what = fmt::format("n={}", n),
                            .kernel = "counted",
                            .arguments = {input(u8, n, Fill::Small), output(i32, 32), n,
                                          constant_of("BINS", 32), constant_of("BLOCK", 512)}});
  for (const DType dtype : {f32, i64, bf16}) {
    family.cases.push_back(
        {.what = fmt::format("{}", name_of(dtype)),
         .kernel = "gathered",
         .arguments = {input(dtype, 8 * 16), input(u32, 8 * 32), output(dtype, 8 * 32),
                       constant_of("R", 8), constant_of("C", 16), constant_of("K", 32)},
         .exact = true});
    family.cases.push_back({.what = fmt::format("{}", name_of(dtype)),
                            .kernel = "scattered",
                            .arguments = {input(dtype, 200), input(u32, 200), output(dtype, 200),
                                          whole(200), constant_of("BLOCK", 128)},
                            .grid = 2,
                            .exact = true});
  }
  return family;
}

const char* const shape_source = R"(
@triton.jit
def transposed(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :],
                mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(out_ptr + c[:, None] * rows + r[None, :], tl.trans(x),
             mask=(c[:, None] < columns) & (r[None, :] < rows))

@triton.jit
def permuted(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    x = tl.reshape(tl.load(x_ptr + i), (A, B, C))
    y = tl.permute(x, (2, 0, 1))
    tl.store(out_ptr + i, tl.reshape(y, (A * B * C,)))
    z = tl.permute(y, (1, 0, 2))
    tl.store(out_ptr + A * B * C + i, tl.reshape(z, (A * B * C,)))

@triton.jit
def joined(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.interleave(x, y))
    pair = tl.join(x, y)
    tl.store(out_ptr + 2 * N + i[:, None] + N * tl.arange(0, 2)[None, :], pair)
    even, odd = tl.split(tl.reshape(pair, (N // 2, 2, 2)).permute(0, 2, 1))
    h = tl.arange(0, N // 2)[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.store(out_ptr + 4 * N + h, even)
    tl.store(out_ptr + 5 * N + h, odd)
    tl.store(out_ptr + 6 * N + tl.arange(0, 2 * N), tl.cat(x, y, can_reorder=True) * 0 + 3)

@triton.jit
def flipped(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.flip(x, 1))
    tl.store(out_ptr + R * C + at, tl.broadcast_to(tl.sum(x, 1, keep_dims=True), (R, C)))
    tl.store(out_ptr + 2 * R * C + tl.arange(0, R * C), tl.ravel(x))
)";

Family shapes() {
  Family family{"shape", shape_source, {}};
  for (const DType dtype : {f32, f16, i8, i64})
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 3}, {16, 32}, {37, 50}})
      family.cases.push_back(
          {.what = fmt::format("{} {}x{}", name_of(dtype), rows, columns),
           .kernel = "transposed",
           .arguments = {input(dtype, rows * columns), output(dtype, rows * columns), rows, columns,
                         constant_of("R", 16), constant_of("C", 32)},
           .grid = {cdiv(rows, 16), cdiv(columns, 32)},
           .exact = true});
  for (const auto& [a, b, c] : {std::tuple{2, 4, 8}, {16, 2, 4}, {1, 8, 32}})
    family.cases.push_back(
        {.what = fmt::format("{}x{}x{}", a, b, c),
         .kernel = "permuted",
         .arguments = {input(i16, a * b * c), output(i16, 2 * a * b * c), constant_of("A", a),
                       constant_of("B", b), constant_of("C", c)}});
  for (const DType dtype : {f32, u8})
    for (const int n : {2, 64, 256}) {
      family.cases.push_back(
          {.what = fmt::format("{} {}", name_of(dtype), n),
           .kernel = "joined",
           .arguments = {input(dtype, n, Fill::Small), input(dtype, n, Fill::Small),
                         output(dtype, 8 * n), constant_of("N", n)},
           .exact = true});
      family.cases.push_back({.what = fmt::format("{} {}", name_of(dtype), n),
                              .kernel = "flipped",
                              .arguments = {input(dtype, 4 * n, Fill::Small), output(dtype, 12 * n),
                                            constant_of("R", 4), constant_of("C", n)},
                              .exact = true});
    }
  return family;
}

std::vector<Family> movement_families() { return {scans(), order(), shapes()}; }

TW_CONFORMANCE(Movement, movement_families);

}  // namespace
}  // namespace tilewright::conformance
