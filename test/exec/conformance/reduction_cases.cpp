// SPDX-License-Identifier: Apache-2.0
// conformance/reduction_cases.cpp — softmax, norms, and reductions of every kind and axis.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const softmax_source = R"(
@triton.jit
def softmax(x_ptr, out_ptr, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < columns
    x = tl.load(x_ptr + row * x_stride + c, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + c, e / tl.sum(e, axis=0), mask=mask)

@triton.jit
def softmax_tile(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, C)
    at = r[:, None] * columns + c[None, :]
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    x = tl.load(x_ptr + at, mask=mask, other=-1e30).to(tl.float32)
    e = tl.where(mask, tl.exp(x - tl.max(x, 1)[:, None]), 0.0)
    total = tl.sum(e, 1, keep_dims=True)
    tl.store(out_ptr + at, e / total, mask=mask)

@triton.jit
def combine(max_a, sum_a, max_b, sum_b):
    top = tl.maximum(max_a, max_b)
    return top, sum_a * tl.exp(max_a - top) + sum_b * tl.exp(max_b - top)

@triton.jit
def softmax_online(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=-1e30).to(tl.float32)
        m, s = tl.reduce((x, tl.where(c < columns, 1.0, 0.0)), 0, combine)
        new = tl.maximum(top, m)
        total = total * tl.exp(top - new) + s * tl.exp(m - new)
        top = new
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns).to(tl.float32)
        tl.store(out_ptr + row * columns + c, tl.exp(x - top) / total, mask=c < columns)
)";

Family softmax() {
  Family family{"softmax", softmax_source, {}};
  for (const DType dtype : {f32, f16, bf16})
    for (const std::int64_t columns : {1, 7, 97, 512, 781}) {
      const std::int64_t block = next_power_of_2(columns);
      family.cases.push_back(
          {.what = fmt::format("{} {} columns", name_of(dtype), columns),
           .kernel = "softmax",
           .arguments = {input(dtype, 3 * (columns + 5)), output(dtype, 3 * (columns + 2)), columns,
                         columns + 5, columns + 2, constant_of("BLOCK", block)},
           .grid = 3,
           .ulps = 3});
    }
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{5, 30}, {16, 64}})
    family.cases.push_back({.what = fmt::format("{} x {}", rows, columns),
                            .kernel = "softmax_tile",
                            .arguments = {input(f32, rows * columns), output(f32, rows * columns),
                                          rows, columns, constant_of("R", 8), constant_of("C", 64)},
                            .grid = cdiv(rows, 8),
                            .ulps = 3});
  for (const std::int64_t columns : {1, 100, 1000})
    family.cases.push_back({.what = fmt::format("{} columns", columns),
                            .kernel = "softmax_online",
                            .arguments = {input(f32, 2 * columns), output(f32, 2 * columns),
                                          columns, constant_of("BLOCK", 256)},
                            .grid = 2,
                            .ulps = 4});
  return family;
}

const char* const norm_source = R"(
@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < columns
    x = tl.load(x_ptr + row * columns + c, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x) / columns
    d = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d) / columns + eps)
    w = tl.load(w_ptr + c, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + c, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * columns + c, d * rstd * w + b, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)

@triton.jit
def rms_norm(x_ptr, w_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, 0) / columns + eps)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = c < columns
        x = tl.load(x_ptr + row * columns + c, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + c, mask=mask)
        tl.store(out_ptr + row * columns + c, (x * scale).to(w.dtype) * w, mask=mask)

@triton.jit
def merge(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    share = tl.where(n == 0, 0.0, n_b / tl.where(n == 0, 1.0, n))
    d = mean_b - mean_a
    return mean_a + d * share, m2_a + m2_b + d * d * n_a * share, n

@triton.jit
def welford(x_ptr, mean_ptr, var_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    mask = (r < rows) & (c < columns)
    x = tl.load(x_ptr + r * columns + c, mask=mask, other=0.0)
    one = tl.where(mask, 1.0, 0.0)
    mean, m2, n = tl.reduce((x, tl.zeros_like(x), one), 1, merge)
    line = tl.program_id(0) * R + tl.arange(0, R)
    tl.store(mean_ptr + line, mean, mask=line < rows)
    tl.store(var_ptr + line, m2 / n, mask=line < rows)

@triton.jit
def two_passes(x_ptr, mean_ptr, var_ptr, rows, columns, correction, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    total = tl.zeros((R, C), tl.float32)
    for start in range(0, columns, C):
        c = start + tl.arange(0, C)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        total += tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0)
    mean = tl.sum(total, 1) / columns
    squares = tl.zeros((R, C), tl.float32)
    for start in range(0, columns, C):
        c = start + tl.arange(0, C)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0)
        d = x - mean[:, None]
        squares += tl.where(mask, d * d, 0.0)
    var = tl.sum(squares, 1) / (columns + correction)
    tl.store(mean_ptr + r, mean, mask=r < rows)
    tl.store(var_ptr + r, var, mask=r < rows)
)";

Family norms() {
  Family family{"norms", norm_source, {}};
  for (const DType dtype : {f32, f16})
    for (const std::int64_t columns : {1, 96, 781}) {
      const std::int64_t rows = 3;
      const std::string what = fmt::format("{} {} columns", name_of(dtype), columns);
      const std::int64_t block = next_power_of_2(columns);
      family.cases.push_back(
          {.what = what,
           .kernel = "layer_norm",
           .arguments = {input(dtype, rows * columns), input(dtype, columns), input(dtype, columns),
                         output(dtype, rows * columns), output(f32, rows), output(f32, rows),
                         columns, 1e-5, constant_of("BLOCK", block)},
           .grid = rows,
           .ulps = 4,
           .magnitude = 2});
      family.cases.push_back(
          {.what = what,
           .kernel = "rms_norm",
           .arguments = {input(dtype, rows * columns), input(dtype, columns),
                         output(dtype, rows * columns), columns, 1e-6, constant_of("BLOCK", 256)},
           .grid = rows,
           .ulps = 4,
           .magnitude = 2});
    }
  for (const std::int64_t columns : {1, 33, 64})
    family.cases.push_back(
        {.what = fmt::format("{} columns", columns),
         .kernel = "welford",
         .arguments = {input(f32, 13 * columns), output(f32, 13), output(f32, 13), whole(13),
                       columns, constant_of("R", 8), constant_of("C", 64)},
         .grid = 2,
         .ulps = 4});
  family.cases.push_back(
      {.what = "two divisions by numbers",
       .kernel = "two_passes",
       .arguments = {input(f32, 13 * 50), output(f32, 13), output(f32, 13), whole(13), whole(50),
                     0.5, constant_of("R", 8), constant_of("C", 16)},
       .grid = 2,
       .ulps = 8});
  return family;
}

const char* const reduce_source = R"(
@triton.jit
def columns_of(x_ptr, sum_ptr, max_ptr, min_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C)
    total = tl.zeros([C], tl.float32)
    for start in range(0, rows, R):
        r = start + tl.arange(0, R)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0)
        total += tl.sum(x.to(tl.float32), axis=0)
    r = tl.arange(0, R)
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    first = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0)
    tl.store(sum_ptr + c, total, mask=c < columns)
    tl.store(max_ptr + c, tl.max(first, 0), mask=c < columns)
    tl.store(min_ptr + c, tl.min(first, 0), mask=c < columns)

@triton.jit
def indices(x_ptr, best_ptr, where_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0)
    top, at = tl.max(x, axis=1, return_indices=True)
    low, low_at = tl.min(x, axis=1, return_indices=True)
    tl.store(best_ptr + r, top, mask=r < rows)
    tl.store(best_ptr + rows + r, low, mask=r < rows)
    tl.store(where_ptr + r, at, mask=r < rows)
    tl.store(where_ptr + rows + r, low_at, mask=r < rows)
    tl.store(where_ptr + 2 * rows + r, tl.argmax(x, 1), mask=r < rows)
    tl.store(where_ptr + 3 * rows + r, tl.argmin(x, 1), mask=r < rows)

@triton.jit
def both(a, b):
    return a & b

@triton.jit
def either(a, b):
    return a | b

@triton.jit
def product(a, b):
    return a * b

@triton.jit
def logic(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + 0, tl.reduce((x < 100) | (i >= n), 0, both).to(tl.int32))
    tl.store(out_ptr + 1, tl.reduce((x > 8) & (i < n), 0, either).to(tl.int32))
    tl.store(out_ptr + 2, tl.reduce(x | 1, 0, product))
    tl.store(out_ptr + 3, tl.xor_sum(x, 0))
    tl.store(out_ptr + 4, tl.sum((x > 0).to(tl.int32)))
    tl.store(out_ptr + 5, tl.sum(x, 0))
    tl.store(out_ptr + 6, tl.max(x, 0))

@triton.jit
def cube(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + a * B * C + b * C + c)
    ab = tl.sum(x, 2)
    ac = tl.max(x, 1)
    bc = tl.min(x, 0)
    ra = tl.arange(0, A)
    rb = tl.arange(0, B)
    rc = tl.arange(0, C)
    tl.store(out_ptr + ra[:, None] * B + rb[None, :], ab)
    tl.store(out_ptr + A * B + ra[:, None] * C + rc[None, :], ac)
    tl.store(out_ptr + A * B + A * C + rb[:, None] * C + rc[None, :], bc)
    tl.store(out_ptr + A * B + A * C + B * C, tl.sum(tl.sum(ab, 1), 0))
    tl.store(out_ptr + A * B + A * C + B * C + 1, tl.sum(x))
)";

Family reduces() {
  Family family{"reduce", reduce_source, {}};
  for (const DType dtype : {f32, bf16, f16})
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {13, 33}, {40, 100}})
      family.cases.push_back({.what = fmt::format("{} {}x{}", name_of(dtype), rows, columns),
                              .kernel = "columns_of",
                              .arguments = {input(dtype, rows * columns), output(f32, columns),
                                            output(dtype, columns), output(dtype, columns), rows,
                                            columns, constant_of("R", 16), constant_of("C", 32)},
                              .grid = cdiv(columns, 32),
                              .magnitude = 8});
  for (const DType dtype : {f32, i32, f16, i64})
    for (const Fill fill : {Fill::Small, Fill::Normal})
      family.cases.push_back(
          {.what = fmt::format("{}", name_of(dtype)),
           .kernel = "indices",
           .arguments = {input(dtype, 11 * 50, fill), output(dtype, 22), output(i32, 44), whole(11),
                         whole(50), constant_of("R", 16), constant_of("C", 64)},
           .exact = true});
  for (const std::int64_t n : {1, 31, 300})
    for (const int warps : {1, 4})
      family.cases.push_back(
          {.what = fmt::format("n={}", n),
           .kernel = "logic",
           .arguments = {input(i32, n, Fill::Small), output(i32, 7), n, constant_of("BLOCK", 512)},
           .num_warps = warps});
  for (const auto& [a, b, c] : {std::tuple{2, 4, 8}, {8, 16, 4}, {1, 2, 64}})
    family.cases.push_back(
        {.what = fmt::format("{}x{}x{}", a, b, c),
         .kernel = "cube",
         .arguments = {input(f32, a * b * c), output(f32, a * b + a * c + b * c + 2),
                       constant_of("A", a), constant_of("B", b), constant_of("C", c)},
         .magnitude = 32});
  return family;
}

// Functions that combine with branches and loops of their own.
const char* const branching_source = R"(
@triton.jit
def pick(a, index_a, b, index_b):
    if (a > b) | ((a == b) & (index_a < index_b)):
        best = a
        index = index_a
    else:
        best = b
        index = index_b
    return best, index

@triton.jit
def gcd(a, b):
    x = a
    y = b
    while y != 0:
        rest = x % y
        x = y
        y = rest
    return x

@triton.jit
def far(a, b):
    if a > b:
        if a > 50:
            out = a
        else:
            out = a
    else:
        out = b
    return out

@triton.jit
def branching(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    i = r[:, None] * C + c[None, :]
    x = tl.load(x_ptr + i)
    best, index = tl.reduce((x, i), 1, pick)
    tl.store(out_ptr + r, best)
    tl.store(out_ptr + R + r, index)
    tl.store(out_ptr + 2 * R + r, tl.reduce(x, 1, gcd))
    tl.store(out_ptr + 3 * R + i, tl.associative_scan(x, 1, far))
    best, index = tl.reduce((x, i), 0, pick)
    tl.store(out_ptr + 3 * R + R * C + c, best)
)";

Family branching() {
  Family family{"branching", branching_source, {}};
  for (const auto& [r, c] : {std::tuple{1, 8}, {4, 256}, {32, 8}})
    for (const int warps : {1, 4})
      family.cases.push_back(
          {.what = fmt::format("{}x{}", r, c),
           .kernel = "branching",
           .arguments = {input(i32, r * c, Fill::Positive), output(i32, 3 * r + r * c + c),
                         constant_of("R", r), constant_of("C", c)},
           .num_warps = warps});
  return family;
}

const char* const big_source = R"(
@triton.jit
def big_softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < columns
    x = tl.load(x_ptr + row * columns + c, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * columns + c, e / tl.sum(e, 0), mask=mask)

@triton.jit
def big_count(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = x * x
    tl.store(out_ptr + i, y + tl.sum(y, 0), mask=i < n)
)";

Family big_tiles() {
  Family family{"big_tiles", big_source, {}};
  for (const auto& [columns, block] : {std::pair<std::int64_t, std::int64_t>{32768, 32768},
                                       {20000, 32768},
                                       {131072, 131072},
                                       {100003, 131072}}) {
    family.cases.push_back(
        {.what = fmt::format("{} of {}", columns, block),
         .kernel = "big_softmax",
         .arguments = {input(f32, 2 * columns), output(f32, 2 * columns), columns,
                       constant_of("BLOCK", block)},
         .grid = 2,
         .num_warps = 8,
         .ulps = 4,
         .emulated = block == 32768,
         // 1024 threads have 64 registers, which one word outside of loops misses.
         .may_spill = block == 131072});
    family.cases.push_back({.what = fmt::format("{} of {}", columns, block),
                            .kernel = "big_count",
                            .arguments = {input(i32, columns), output(i32, columns), columns,
                                          constant_of("BLOCK", block)},
                            .emulated = block == 32768});
  }
  return family;
}

// A row whose place is known only after a loop over another one, and a condition that is not the
// mask although it is made of the same numbers.
const char* const odd_rows_source = R"(
@triton.jit
def late_place(x_ptr, y_ptr, out_ptr, place_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    total = tl.sum(e, 0)
    tl.store(place_ptr, (total * 0).to(tl.int32) + n)
    stride = tl.load(place_ptr)
    y = tl.load(y_ptr + row * stride + c, mask=c < n, other=0.0)
    tl.store(out_ptr + row * n + c, e / total + y, mask=c < n)

@triton.jit
def narrow_end(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.where(i < n.to(tl.int8), x, 7.0) + tl.where(i.to(tl.int8) < n, x, 3.0)
    tl.store(out_ptr + i, y, mask=i < n)
)";

Family odd_rows() {
  constexpr std::int64_t n = 300;
  return {"odd_rows",
          odd_rows_source,
          {{.what = "late place",
            .kernel = "late_place",
            .arguments = {input(f32, 3 * n), input(f32, 3 * n), output(f32, 3 * n), output(i32, 1),
                          n, constant_of("BLOCK", 512)},
            .grid = 3,
            .ulps = 4},
           {.what = "narrow end",
            .kernel = "narrow_end",
            .arguments = {input(f32, n), output(f32, n), n, constant_of("BLOCK", 512)}}}};
}

std::vector<Family> reduction_families() {
  return {softmax(), norms(), reduces(), branching(), big_tiles(), odd_rows()};
}

TW_CONFORMANCE(Reduction, reduction_families);

}  // namespace
}  // namespace tilewright::conformance
