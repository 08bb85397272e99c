// SPDX-License-Identifier: Apache-2.0
// conformance/odd_rows_cases.cpp — rows of small elements that begin anywhere: GPU tiles are turned
// round to move them in vectors. Lengths around a vector and around the tile.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const turned_source = R"(
@triton.jit
def softmax(x_ptr, out_ptr, n, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + c, mask=c < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + c, e / tl.sum(e, axis=0), mask=c < n)

@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * n
    c = tl.arange(0, BLOCK)
    inside = c < n
    x = tl.load(x_ptr + start + c, mask=inside, other=0.0).to(tl.float32)
    d = tl.where(inside, x - tl.sum(x, axis=0) / n, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, axis=0) / n + 1e-5)
    w = tl.load(w_ptr + c, mask=inside).to(tl.float32)
    b = tl.load(b_ptr + c, mask=inside).to(tl.float32)
    tl.store(out_ptr + start + c, d * scale * w + b, mask=inside)

@triton.jit
def rms_norm(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, 0) / n + 1e-5)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + c, mask=c < n).to(tl.float32)
        w = tl.load(w_ptr + c, mask=c < n).to(tl.float32)
        tl.store(out_ptr + row * n + c, x * scale * w, mask=c < n)

@triton.jit
def two_masks(x_ptr, out_ptr, n, low, m, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=(c >= low) & (c < n), other=3).to(tl.float32)
    y = tl.where(c < m, x, 7.0) + tl.where((c >= 5) & (c < n), 1.0, 0.5)
    total = tl.sum(x, 0)
    tl.store(out_ptr + row * n + c, y + total, mask=(c >= low) & (c < n))

@triton.jit
def with_index(x_ptr, out_ptr, at_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n, other=-100)
    at = tl.argmax(x, 0)
    tl.store(at_ptr + row, at)
    tl.store(out_ptr + row * n + c, tl.where(c == at, c, x).to(x.dtype), mask=c < n)

@triton.jit
def whole_rows(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + c)
    tl.store(out_ptr + row * stride + c, x + tl.max(x, 0))

@triton.jit
def row_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(x * c, 0))

@triton.jit
def widened(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n, other=0).to(tl.float32)
    w = tl.load(w_ptr + c, mask=c < n, other=2.0).to(tl.float32)
    tl.store(out_ptr + row * n + c, x + w + tl.max(x, 0), mask=c < n)

@triton.jit
def flags(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n, other=False)
    tl.store(out_ptr + row * n + c, x != (c % 3 == 0), mask=c < n)

@triton.jit
def branches(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    c = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    i = 0
    while i < m:
        x = tl.load(x_ptr + start + c, mask=c < n, other=c).to(tl.float32)
        if i % 2 == 0:
            total += x
            tl.store(out_ptr + start + c, total, mask=c < n)
        else:
            y = tl.load(out_ptr + start + c, mask=c < n).to(tl.float32)
            total = tl.where(c < m, total, y)
        i += 1
    tl.store(out_ptr + start + c, total + tl.sum(total, 0), mask=c < n)
)";

constexpr std::int64_t rows = 5;

Case softmax_case(DType dtype, std::int64_t n, std::int64_t block, std::int64_t skipped = 0) {
  const std::int64_t stride = n + (n % 2 == 0 ? 3 : 0);
  return {.what = fmt::format("softmax {} n={} of {} from {}", name_of(dtype), n, block, skipped),
          .kernel = "softmax",
          .arguments = {input(dtype, rows * stride + skipped, Fill::Normal, skipped),
                        output(dtype, rows * stride + skipped, skipped), n, stride, stride,
                        constant_of("BLOCK", block)},
          .grid = rows,
          .num_warps = 1,
          .ulps = 3};
}

Case norm_case(DType dtype, DType weights, std::int64_t n) {
  return {.what = fmt::format("layer norm {} by {} n={}", name_of(dtype), name_of(weights), n),
          .kernel = "layer_norm",
          .arguments = {input(dtype, rows * n), input(weights, n), input(weights, n),
                        output(dtype, rows * n), n, constant_of("BLOCK", 256)},
          .grid = rows,
          .num_warps = 1,
          .ulps = 3,
          .magnitude = 4};
}

void add_softmax(Family& family) {
  for (const std::int64_t n : {0, 1, 7, 97, 248, 253, 256})
    family.cases.push_back(softmax_case(bf16, n, 256));
  for (const std::int64_t n : {253, 511}) family.cases.push_back(softmax_case(f16, n, 512));
  family.cases.push_back(softmax_case(bf16, 255, 256, 3));
  Case apart = softmax_case(bf16, 251, 256);
  apart.what = "rows of the result begin elsewhere";
  apart.arguments[1] = output(bf16, rows * 251 + 5, 5);
  family.cases.push_back(apart);
  Case in_place = softmax_case(f16, 253, 256);
  in_place.what = "in place";
  in_place.arguments[1] = SameBuffer{0};
  family.cases.push_back(in_place);
}

void add_norms(Family& family) {
  for (const std::int64_t n : {1, 15, 189, 255}) family.cases.push_back(norm_case(bf16, bf16, n));
  family.cases.push_back(norm_case(f16, f32, 251));
  for (const std::int64_t n : {9, 255, 781})
    family.cases.push_back({.what = fmt::format("rms norm n={}", n),
                            .kernel = "rms_norm",
                            .arguments = {input(bf16, rows * n), input(bf16, n),
                                          output(bf16, rows * n), n, constant_of("BLOCK", 256)},
                            .grid = rows,
                            .num_warps = 1,
                            .ulps = 3});
}

void add_others(Family& family) {
  for (const auto& [n, low, m] :
       {std::array<std::int64_t, 3>{255, 3, 9}, {253, 250, 2}, {77, 90, 300}, {256, 251, 254}})
    family.cases.push_back({.what = fmt::format("two masks n={} low={} m={}", n, low, m),
                            .kernel = "two_masks",
                            .arguments = {input(f16, rows * n, Fill::Small), output(f16, rows * n),
                                          n, low, m, constant_of("BLOCK", 256)},
                            .grid = rows,
                            .num_warps = 1});
  for (const std::int64_t n : {5, 509, 511})
    family.cases.push_back(
        {.what = fmt::format("with index n={}", n),
         .kernel = "with_index",
         .arguments = {input(DType::Int8, rows * n), output(DType::Int8, rows * n),
                       output(i32, rows), n, constant_of("BLOCK", 512)},
         .grid = rows,
         .num_warps = 1});
  family.cases.push_back({.what = "whole rows",
                          .kernel = "whole_rows",
                          .arguments = {input(bf16, rows * 261), output(bf16, rows * 261), 261,
                                        constant_of("BLOCK", 256)},
                          .grid = rows,
                          .num_warps = 1});
  for (const std::int64_t n : {31, 253})
    family.cases.push_back({.what = fmt::format("row sum n={}", n),
                            .kernel = "row_sum",
                            .arguments = {input(bf16, rows * n, Fill::Small), output(f32, rows), n,
                                          constant_of("BLOCK", 256)},
                            .grid = rows,
                            .num_warps = 1,
                            .ulps = 4});
  for (const DType from : {DType::Int8, bf16})
    family.cases.push_back({.what = fmt::format("{} widened", name_of(from)),
                            .kernel = "widened",
                            .arguments = {input(from, rows * 507), input(f16, 507),
                                          output(f32, rows * 507), 507, constant_of("BLOCK", 512)},
                            .grid = rows,
                            .num_warps = 2});
  family.cases.push_back(
      {.what = "flags",
       .kernel = "flags",
       .arguments = {input(DType::Bool, rows * 509), output(DType::Bool, rows * 509), 509,
                     constant_of("BLOCK", 512)},
       .grid = rows,
       .num_warps = 1});
  family.cases.push_back({.what = "branches",
                          .kernel = "branches",
                          .arguments = {input(f16, rows * 253, Fill::Small),
                                        output(f16, rows * 253), 253, 3, constant_of("BLOCK", 256)},
                          .grid = rows,
                          .num_warps = 1});
}

std::vector<Family> odd_rows_families() {
  Family family{"turned_rows", turned_source, {}};
  add_softmax(family);
  add_norms(family);
  add_others(family);
  return {family};
}

TW_CONFORMANCE(OddRows, odd_rows_families);

}  // namespace
}  // namespace tilewright::conformance
