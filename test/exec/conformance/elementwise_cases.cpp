// SPDX-License-Identifier: Apache-2.0
// conformance/elementwise_cases.cpp — kernels that compute each element by itself.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

constexpr std::int64_t sizes[] = {1, 7, 97, 256, 1000};

std::string named(DType dtype, std::int64_t n) { return fmt::format("{} n={}", name_of(dtype), n); }

// Cases of a kernel (x, y, out, n, BLOCK) over sizes and dtypes.
Family of_two(const char* name, const char* source, std::vector<DType> dtypes, Fill fill,
              double ulps = 2) {
  Family family{name, source, {}};
  for (const DType dtype : dtypes)
    for (const std::int64_t n : sizes)
      family.cases.push_back({.what = named(dtype, n),
                              .kernel = name,
                              .arguments = {input(dtype, n, fill), input(dtype, n, fill),
                                            output(dtype, n), n, constant_of("BLOCK", 256)},
                              .grid = cdiv(n, 256),
                              .ulps = ulps});
  return family;
}

const char* const add_source = R"(
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    tl.store(out_ptr + i, x + y, mask=mask)
)";

Family add() {
  Family family = of_two("add", add_source, {f32, f16, bf16, f64, i32, i8, u16, i64}, Fill::Normal);
  constexpr std::int64_t large = 1000003;
  family.cases.push_back({.what = "large",
                          .kernel = "add",
                          .arguments = {input(f32, large), input(f32, large), output(f32, large),
                                        large, constant_of("BLOCK", 4096)},
                          .grid = cdiv(large, 4096),
                          .exact = true,
                          .emulated = false});
  for (const int warps : {1, 2, 8, 16})
    family.cases.push_back({.what = fmt::format("{} warps", warps),
                            .kernel = "add",
                            .arguments = {input(f16, 1500), input(f16, 1500), output(f16, 1500),
                                          whole(1500), constant_of("BLOCK", 512)},
                            .grid = 3,
                            .num_warps = warps});
  return family;
}

const char* const saxpy_source = R"(
@triton.jit
def saxpy(x_ptr, y_ptr, out_ptr, a, shift, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0)
    y = tl.load(y_ptr + i, mask=mask, other=0.0)
    tl.store(out_ptr + i, a * x + y + shift, mask=mask)
)";

Family saxpy() {
  Family family{"saxpy", saxpy_source, {}};
  for (const DType dtype : {f32, f16, bf16, f64})
    for (const std::int64_t n : {1, 129, 512})
      family.cases.push_back({.what = named(dtype, n),
                              .kernel = "saxpy",
                              .arguments = {input(dtype, n), input(dtype, n), output(dtype, n), 1.7,
                                            whole(n == 1 ? 1 : 3), n, constant_of("BLOCK", 128)},
                              .grid = cdiv(n, 128),
                              .magnitude = 4});
  return family;
}

const char* const gelu_source = R"(
@triton.jit
def gelu(x_ptr, erf_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask).to(tl.float32)
    exact = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tanh = 2 * tl.sigmoid(2 * inner) - 1
    also = libdevice.tanh(inner)
    tl.store(erf_ptr + i, exact, mask=mask)
    tl.store(out_ptr + i, 0.5 * x * (1 + 0.5 * (tanh + also)), mask=mask)
)";

Family gelu() {
  Family family{"gelu", gelu_source, {}};
  for (const DType dtype : {f32, f16, bf16})
    for (const std::int64_t n : {1, 255, 2048})
      family.cases.push_back({.what = named(dtype, n),
                              .kernel = "gelu",
                              .arguments = {input(dtype, n), output(dtype, n), output(dtype, n), n,
                                            constant_of("BLOCK", 1024)},
                              .grid = cdiv(n, 1024)});
  return family;
}

const char* const select_source = R"(
@triton.jit
def select(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    picked = tl.where((x > y) & (i % 3 != 0) | (x == y), x, y)
    picked = tl.where(i == 5, 0, picked)
    tl.store(out_ptr + i, picked, mask=mask)
)";

const char* const clamp_source = R"(
@triton.jit
def clamp(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    a = tl.maximum(tl.minimum(x, y), -y)
    b = tl.maximum(x, a, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out_ptr + i, tl.where(i % 2 == 0, tl.clamp(b, -1.0, 1.0), tl.abs(a)), mask=mask)
)";

const char* const outer_source = R"(
@triton.jit
def outer(x_ptr, y_ptr, out_ptr, rows, columns, stride, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    x = tl.load(x_ptr + r, mask=r < rows)
    y = tl.load(y_ptr + c, mask=c < columns)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    tl.store(out_ptr + r[:, None] * stride + c[None, :], x[:, None] * y[None, :] + 1, mask=inside)
)";

Family outer() {
  Family family{"outer", outer_source, {}};
  for (const DType dtype : {f32, i32, bf16})
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {17, 97}, {32, 64}}) {
      const std::int64_t stride = columns + 3;
      family.cases.push_back(
          {.what = fmt::format("{} {}x{}", name_of(dtype), rows, columns),
           .kernel = "outer",
           .arguments = {input(dtype, rows), input(dtype, columns), output(dtype, rows * stride),
                         rows, columns, stride, constant_of("R", 8), constant_of("C", 64)},
           .grid = {cdiv(rows, 8), cdiv(columns, 64)}});
    }
  return family;
}

const char* const mixed_source = R"(
@triton.jit
def polynomial(x_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, (a * x + 0.5) * x - 1.0, mask=i < n)

@triton.jit
def integers(x_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1).to(tl.int64)
    y = (x * 2654435761 + i) // 7 - (x - 50) % 5 + (x << 3) ^ (x >> 1)
    tl.store(out_ptr + i, tl.where(x % 3 == 0, y, -y), mask=i < n)
)";

Family mixed() {
  Family family{"mixed", mixed_source, {}};
  for (const DType dtype : {f32, f16, bf16, i32, i64, u8})
    for (const std::int64_t n : {1, 97, 128, 1000})
      family.cases.push_back(
          {.what = named(dtype, n),
           .kernel = is_floating(dtype) ? "polynomial" : "integers",
           .arguments = {input(dtype, n), output(dtype, n), n, 1.5, constant_of("BLOCK", 128)},
           .grid = cdiv(n, 128),
           .magnitude = 2});
  return family;
}

std::vector<Family> elementwise_families() {
  return {add(),
          mixed(),
          saxpy(),
          gelu(),
          of_two("select", select_source, {f32, i16, f16, u8}, Fill::Small),
          of_two("clamp", clamp_source, {f32, f16}, Fill::Edges),
          outer()};
}

TW_CONFORMANCE(Elementwise, elementwise_families);

}  // namespace
}  // namespace tilewright::conformance
