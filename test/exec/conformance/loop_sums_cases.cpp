// SPDX-License-Identifier: Apache-2.0
// conformance/loop_sums_cases.cpp — loops that only add up what they reduce, with and without
// rounds, and loops whose rows are loaded while threads wait for a reduction.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const loop_sums_source = R"(
@triton.jit
def columns(x_ptr, out_ptr, rounds, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)
    total = tl.full([C], 3, out_ptr.dtype.element_ty)
    for i in range(rounds):
        total += tl.sum(tl.load(x_ptr + (i * R + r) * C + c[None, :]), 0)
    tl.store(out_ptr + c, total)

@triton.jit
def rows(x_ptr, out_ptr, rounds, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    total = tl.zeros([R], tl.float32)
    squares = 0.0
    for i in range(rounds):
        x = tl.load(x_ptr + (i * R + r[:, None]) * C + c[None, :]).to(tl.float32)
        total += tl.sum(x, 1)
        squares += tl.sum(tl.sum(x * x, 1), 0)
    tl.store(out_ptr + r, total + squares)

@triton.jit
def whole_row(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = 0.0
    squares = 1.0
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < n, other=0.0).to(tl.float32)
        total += tl.sum(x)
        squares += tl.sum(x * x)
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, squares)

@triton.jit
def turned(x_ptr, y_ptr, out_ptr, rounds, B: tl.constexpr, K: tl.constexpr):
    b = tl.arange(0, B)
    k = tl.arange(0, K)
    total = tl.zeros([B, B], tl.float32)
    for i in range(rounds):
        x = tl.load(x_ptr + i * B * K + b[:, None] * K + k[None, :])
        y = tl.load(y_ptr + i * B * B * K + (b[:, None, None] * B + b[None, :, None]) * K + k[None, None, :])
        total += tl.trans(tl.sum(x[None, :, :] * y, 2))
    tl.store(out_ptr + b[:, None] * B + b[None, :], total)

@triton.jit
def extremes(x_ptr, out_ptr, rounds, start, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    most = start
    least = tl.full([1], 0, tl.float32)
    bits = tl.full([8], 0, tl.int32)
    for i in range(rounds):
        x = tl.load(x_ptr + i * BLOCK + c)
        most = tl.maximum(most, tl.max(x, 0))
        least = tl.minimum(least, tl.min(x, 0))
        bits = bits | tl.reduce_or(tl.reshape(x.to(tl.int32), [8, BLOCK // 8]), 1)
    tl.store(out_ptr, most)
    tl.store(out_ptr + 1 + tl.arange(0, 1), least)
    tl.store(out_ptr + 2 + tl.arange(0, 8), bits.to(tl.float32))

@triton.jit
def tiles(x_ptr, out_ptr, sum_ptr, rounds, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    down = tl.zeros([R, C], tl.float32)
    across = tl.zeros([R, C], tl.float32)
    most = tl.full([R, C], -5.0, tl.float32)
    for i in range(rounds):
        x = tl.load(x_ptr + (i * R + r) * C + c).to(tl.float32)
        down += x
        across += x * 2
        most = tl.maximum(most, x)
    tl.store(sum_ptr + tl.arange(0, C), tl.sum(down, 0))
    tl.store(sum_ptr + C + tl.arange(0, C), tl.max(most, 0))
    tl.store(out_ptr + tl.arange(0, R), tl.sum(across, 1))

@triton.jit
def norms(x_ptr, w_ptr, out_ptr, dw_ptr, stride, rows, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    mask = c < n
    dw = tl.zeros([BLOCK], tl.float32)
    first = tl.program_id(0) * rows
    x_ptr += first * stride
    for row in range(first, first + rows):
        x = tl.load(x_ptr + c, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + row * n + c, mask=mask, other=0.0).to(tl.float32)
        scale = tl.sum(x * x, 0) / n + 1.0
        dw += x * w / scale
        tl.store(out_ptr + row * n + c, x / scale, mask=mask)
        x_ptr += stride
    tl.store(dw_ptr + tl.program_id(0) * n + c, dw, mask=mask)

@triton.jit
def recurrence(x_ptr, g_ptr, out_ptr, rounds, D: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = c < D
    p_x = x_ptr + c
    p_g = g_ptr + c
    p_out = out_ptr + c
    h = tl.zeros([BLOCK], tl.float32)
    for t in range(0, rounds):
        x = tl.load(p_x, mask=mask, other=0).to(tl.float32)
        g = tl.load(p_g, mask=mask, other=0).to(tl.float32)
        h = g * h + x
        tl.store(p_out, h, mask=mask)
        p_x += D
        p_g += D
        p_out += D

@triton.jit
def parts(x_ptr, out_ptr, B: tl.constexpr, FROM: tl.constexpr, TO: tl.constexpr):
    c = tl.arange(0, B)
    r = tl.arange(0, B)
    inside = (c >= FROM) & (c < TO)
    row = tl.load(x_ptr + c, mask=inside, other=7.0) + tl.load(x_ptr + B + c, mask=c < FROM, other=1.0)
    at = r[:, None] * B + c[None, :]
    x = tl.load(x_ptr + at) + row[None, :] + tl.sum(row, 0)
    tl.store(out_ptr + at, x, mask=inside[None, :])
)";

void add_sums_of_tiles(Family& family, std::int64_t rounds) {
  for (const DType dtype : {f32, i32})
    family.cases.push_back({.what = fmt::format("columns {} {} rounds", name_of(dtype), rounds),
                            .kernel = "columns",
                            .arguments = {input(dtype, 64 * 16 * 4, Fill::Small), output(dtype, 16),
                                          rounds, constant_of("R", 64), constant_of("C", 16)},
                            .ulps = 8});
  family.cases.push_back({.what = fmt::format("rows {} rounds", rounds),
                          .kernel = "rows",
                          .arguments = {input(f16, 32 * 64 * 4), output(f32, 32), rounds,
                                        constant_of("R", 32), constant_of("C", 64)},
                          .ulps = 32,
                          .magnitude = 4096});
  family.cases.push_back({.what = fmt::format("turned {} rounds", rounds),
                          .kernel = "turned",
                          .arguments = {input(f32, 16 * 16 * 4), input(f32, 16 * 16 * 16 * 4),
                                        output(f32, 256), rounds, constant_of("B", 16),
                                        constant_of("K", 16)},
                          .ulps = 16,
                          .magnitude = 32});
  for (const std::int64_t rows : {64, 256})
    family.cases.push_back({.what = fmt::format("tiles of {} rows, {} rounds", rows, rounds),
                            .kernel = "tiles",
                            .arguments = {input(f16, rows * 32 * 4), output(f32, rows),
                                          output(f32, 64), rounds, constant_of("R", rows),
                                          constant_of("C", 32)},
                            .num_warps = 2,
                            .ulps = 32,
                            .magnitude = 64});
}

Family loop_sums() {
  Family family{"loop_sums", loop_sums_source, {}};
  for (const std::int64_t rounds : {0, 1, 4}) {
    add_sums_of_tiles(family, rounds);
    for (const double start : {-1.0, 100.0})
      family.cases.push_back({.what = fmt::format("extremes from {}, {} rounds", start, rounds),
                              .kernel = "extremes",
                              .arguments = {input(f32, 512 * 4, Fill::Small), output(f32, 10), rounds,
                                            start, constant_of("BLOCK", 512)}});
  }
  for (const std::int64_t n : {1, 1000, 4096})
    family.cases.push_back({.what = fmt::format("row of {}", n),
                            .kernel = "whole_row",
                            .arguments = {input(bf16, n), output(f32, 2), n, constant_of("BLOCK", 1024)},
                            .ulps = 64,
                            .magnitude = 1024});
  for (const std::int64_t rows : {0, 1, 5})
    family.cases.push_back({.what = fmt::format("norms of {} rows", rows),
                            .kernel = "norms",
                            .arguments = {input(f32, 2 * 5 * 320), input(f32, 2 * 5 * 300),
                                          output(f32, 2 * 5 * 300), output(f32, 2 * 300), whole(320), rows, whole(300),
                                          constant_of("BLOCK", 512)},
                            .grid = 2,
                            .ulps = 16,
                            .magnitude = 8});
  for (const std::int64_t rounds : {0, 1, 3, 4, 9})
    family.cases.push_back({.what = fmt::format("recurrence of {} rounds", rounds),
                            .kernel = "recurrence",
                            .arguments = {input(f16, 9 * 100, Fill::Unit), input(f16, 9 * 100, Fill::Unit),
                                          output(f32, 9 * 100), rounds, constant_of("D", 100),
                                          constant_of("BLOCK", 64)},
                            .grid = 2,
                            .num_warps = 2,
                            .ulps = 16});
  for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{8, 20}, {12, 32}, {3, 20}, {16, 24}})
    family.cases.push_back({.what = fmt::format("columns {} to {}", from, to),
                            .kernel = "parts",
                            .arguments = {input(f16, 32 * 32, Fill::Small), output(f16, 32 * 32),
                                          constant_of("B", 32), constant_of("FROM", from),
                                          constant_of("TO", to)},
                            .ulps = 4});
  return family;
}

std::vector<Family> loop_sum_families() { return {loop_sums()}; }

TW_CONFORMANCE(LoopSums, loop_sum_families);

}  // namespace
}  // namespace tilewright::conformance
