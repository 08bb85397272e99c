// SPDX-License-Identifier: Apache-2.0
// conformance/memory_cases.cpp — addresses of every kind, block pointers, and atomics.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

const char* const address_source = R"(
@triton.jit
def strided(x_ptr, out_ptr, n, x_stride, out_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i * x_stride, mask=mask)
    tl.store(out_ptr + i * out_stride, x, mask=mask)

@triton.jit
def wide(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    far = i + 5000000000
    tl.store(out_ptr + (far - 5000000000), tl.load(x_ptr + i, mask=i < n), mask=i < n)

@triton.jit
def in_place(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x + y + y, mask=i < n)
    tl.store(x_ptr + i, tl.load(y_ptr + i, mask=i < n) + 1, mask=i < n)

@triton.jit
def window(x_ptr, out_ptr, n, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i >= low) & (i < high) & (i < n)
    odd = inside & (i % 2 == 1)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=odd, other=7), mask=inside)

@triton.jit
def scalars(x_ptr, out_ptr, n):
    total = tl.load(x_ptr)
    for k in range(1, n):
        total += tl.load(x_ptr + k)
    tl.store(out_ptr + tl.program_id(0), total + tl.program_id(0) + tl.num_programs(0))

@triton.jit
def hinted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    n = tl.multiple_of(n, 8)
    i = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK) + tl.arange(0, BLOCK), BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, eviction_policy="evict_first", cache_modifier=".cg")
    tl.store(out_ptr + i, x, mask=i < n, cache_modifier=".cs")
)";

Case strided_case(DType dtype, std::int64_t n, std::int64_t x_stride, std::int64_t out_stride) {
  const auto span = [&](std::int64_t stride) { return (n - 1) * std::abs(stride) + 1; };
  const auto start = [&](std::int64_t stride) { return stride < 0 ? span(stride) - 1 : 0; };
  return {.what = fmt::format("{} n={} strides {} {}", name_of(dtype), n, x_stride, out_stride),
          .kernel = "strided",
          .arguments = {input(dtype, span(x_stride), Fill::Normal, start(x_stride)),
                        output(dtype, span(out_stride), start(out_stride)), n, x_stride, out_stride,
                        constant_of("BLOCK", 128)},
          .grid = cdiv(n, 128),
          .exact = true};
}

Family addresses() {
  Family family{"address", address_source, {}};
  for (const DType dtype : {f32, i8, f64})
    for (const auto& [a, b] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                               {3, 1},
                               {1, 16},
                               {2, 5},
                               {-1, 1},
                               {-3, -2},
                               {1, -16}})
      family.cases.push_back(strided_case(dtype, 200, a, b));
  // Pointers that are aligned to one element only.
  for (const DType dtype : {f32, f16, i8})
    for (const std::int64_t start : {1, 3})
      for (const std::int64_t n : {16, 240, 255})
        family.cases.push_back({.what = fmt::format("{} from {} n={}", name_of(dtype), start, n),
                                .kernel = "strided",
                                .arguments = {input(dtype, n + start, Fill::Normal, start),
                                              output(dtype, n + start + 4, start), n, whole(1),
                                              whole(1), constant_of("BLOCK", 128)},
                                .grid = 2,
                                .exact = true});
  family.cases.push_back(
      {.what = "int64",
       .kernel = "wide",
       .arguments = {input(f32, 300), output(f32, 300), whole(300), constant_of("BLOCK", 256)},
       .grid = 2,
       .exact = true});
  for (const std::int64_t n : {1, 255}) {
    family.cases.push_back(
        {.what = fmt::format("one buffer, n={}", n),
         .kernel = "in_place",
         .arguments = {input(i32, n), SameBuffer{0}, n, constant_of("BLOCK", 128)},
         .grid = 2});
    family.cases.push_back(
        {.what = fmt::format("two buffers, n={}", n),
         .kernel = "in_place",
         .arguments = {input(f32, n), input(f32, n), n, constant_of("BLOCK", 128)},
         .grid = 2,
         .magnitude = 4});
  }
  for (const auto& [low, high] : {std::pair<std::int64_t, std::int64_t>{0, 300},
                                  {1, 2},
                                  {5, 131},
                                  {128, 256},
                                  {130, 1000},
                                  {40, 30}})
    family.cases.push_back({.what = fmt::format("[{}, {})", low, high),
                            .kernel = "window",
                            .arguments = {input(i16, 300), output(i16, 300), whole(300), low, high,
                                          constant_of("BLOCK", 128)},
                            .grid = 3});
  family.cases.push_back({.what = "",
                          .kernel = "scalars",
                          .arguments = {input(i32, 9), output(i32, 5), whole(9)},
                          .grid = 5});
  family.cases.push_back(
      {.what = "",
       .kernel = "hinted",
       .arguments = {input(f16, 1000), output(f16, 1000), whole(1000), constant_of("BLOCK", 512)},
       .grid = 2,
       .exact = true});
  return family;
}

const char* const block_source = R"(
@triton.jit
def copied(x_ptr, out_ptr, rows, columns, x_stride, out_stride, R: tl.constexpr, C: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, shape=(rows, columns), strides=(x_stride, 1),
                          offsets=(tl.program_id(0) * R, 0), block_shape=(R, C), order=(1, 0))
    out = tl.make_block_ptr(out_ptr, shape=(columns, rows), strides=(out_stride, 1),
                            offsets=(0, tl.program_id(0) * R), block_shape=(C, R), order=(0, 1))
    for start in range(0, columns, C):
        tile = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        tl.store(out, tl.trans(tile) + 1, boundary_check=(0, 1))
        x = tl.advance(x, (0, C))
        out = tl.advance(out, (C, 0))
)";

Family blocks() {
  Family family{"block_pointer", block_source, {}};
  for (const DType dtype : {f32, i16})
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {16, 32}, {19, 45}})
      family.cases.push_back(
          {.what = fmt::format("{} {}x{}", name_of(dtype), rows, columns),
           .kernel = "copied",
           .arguments = {input(dtype, rows * (columns + 3)), output(dtype, columns * (rows + 1)),
                         rows, columns, columns + 3, rows + 1, constant_of("R", 8),
                         constant_of("C", 16)},
           .grid = cdiv(rows, 8)});
  return family;
}

// Floats in atomics are small whole numbers, so that their order does not matter.
const char* const atomic_source = R"(
@triton.jit
def added(x_ptr, bin_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    bin = tl.load(bin_ptr + i, mask=mask) % BINS
    tl.atomic_add(out_ptr + bin, x, mask=mask)
    tl.atomic_add(out_ptr + BINS, tl.sum(tl.where(mask, x, 0), 0).to(x.dtype))

@triton.jit
def added_rows(x_ptr, out_ptr, also_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=0)
    tl.atomic_add(out_ptr + i, x, mask=i < n)
    tl.atomic_add(also_ptr + i, x + x, mask=i < n, sem="relaxed")

@triton.jit
def extremes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    tl.atomic_max(out_ptr + i % 4, x, mask=mask)
    tl.atomic_min(out_ptr + 4 + i % 4, x, mask=mask)

@triton.jit
def bits(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    tl.atomic_and(out_ptr + i % 4, x, mask=mask)
    tl.atomic_or(out_ptr + 4 + i % 4, x, mask=mask)
    tl.atomic_xor(out_ptr + 8 + i % 4, x, mask=mask)

@triton.jit
def old_values(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_xchg(x_ptr + i, i, mask=i < n)
    more = tl.atomic_add(x_ptr + i, 5, mask=i < n)
    tl.store(out_ptr + i, old * 3 + more, mask=i < n)

@triton.jit
def locked(lock_ptr, sum_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(sum_ptr + i, tl.load(sum_ptr + i) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
)";

Family atomics() {
  Family family{"atomic", atomic_source, {}};
  for (const DType dtype : {i32, i64, f32, f16, bf16, f64})
    for (const std::int64_t n : {1, 300})
      family.cases.push_back(
          {.what = fmt::format("{} n={}", name_of(dtype), n),
           .kernel = "added",
           .arguments = {input(dtype, n, Fill::Small), input(u32, n), input(dtype, 9, Fill::Zero),
                         n, constant_of("BINS", 8), constant_of("BLOCK", 128)},
           .grid = 3,
           .exact = true});
  for (const DType dtype : {f32, f16, bf16, f64})
    for (const std::int64_t n : {7, 300, 512})
      family.cases.push_back(
          {.what = fmt::format("{} n={}", name_of(dtype), n),
           .kernel = "added_rows",
           .arguments = {input(dtype, 3 * n, Fill::Small), input(dtype, n, Fill::Zero),
                         input(dtype, n, Fill::Zero), n, constant_of("BLOCK", 512)},
           .grid = 3,
           .exact = true});
  for (const DType dtype : {i32, u32, i64, f32})
    family.cases.push_back({.what = fmt::format("{}", name_of(dtype)),
                            .kernel = "extremes",
                            .arguments = {input(dtype, 300), input(dtype, 8, Fill::Small),
                                          whole(300), constant_of("BLOCK", 128)},
                            .grid = 3,
                            .exact = true});
  for (const DType dtype : {i32, u64})
    family.cases.push_back(
        {.what = fmt::format("{}", name_of(dtype)),
         .kernel = "bits",
         .arguments = {input(dtype, 300), input(dtype, 12), whole(300), constant_of("BLOCK", 128)},
         .grid = 3});
  family.cases.push_back(
      {.what = "",
       .kernel = "old_values",
       .arguments = {input(i32, 100), output(i32, 100), whole(100), constant_of("BLOCK", 128)}});
  family.cases.push_back({.what = "9 programs",
                          .kernel = "locked",
                          .arguments = {input(i32, 1, Fill::Zero), input(i32, 64, Fill::Zero),
                                        input(i32, 9 * 64), constant_of("BLOCK", 64)},
                          .grid = 9});
  return family;
}

std::vector<Family> memory_families() { return {addresses(), blocks(), atomics()}; }

TW_CONFORMANCE(Memory, memory_families);

}  // namespace
}  // namespace tilewright::conformance
