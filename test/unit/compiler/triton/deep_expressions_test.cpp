// SPDX-License-Identifier: Apache-2.0
// compiler/triton/deep_expressions_test.cpp — kernels whose values are reached in 2^60 ways become
// text all the same: whoever looks at what a value is computed from looks at each value once. A
// walk that does not ends by the time limit of the test.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compiler/triton/compile.h"
#include "compiler/triton/parameters.h"
#include "compiler/triton/resolve.h"
#include "frontend/python/evaluate.h"

namespace tilewright {
namespace {

constexpr const char* signature = "*fp32:16, *fp32:16, i32, 1024";

struct Deep {
  const char* name;
  const char* body;  // of kernel k(x_ptr, y_ptr, n, B: tl.constexpr)
};

const Deep kernels[] = {
    {"Scalars",
     R"(
    a = tl.program_id(0) + n
    for k in tl.static_range(60):
        a = a * a + a
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    if a > 3:
        x = tl.cumsum(x, 0)
        x = x + tl.sum(x, 0)
    tl.store(y_ptr + (a % 2) + i, x, mask=i < n)
)"},
    {"PointersOfScalars",
     R"(
    a = tl.program_id(0)
    for k in tl.static_range(60):
        a = a + a * 3 + a
    i = tl.arange(0, B)
    for r in range(n):
        x = tl.load(x_ptr + a * B + r * B + i)
        tl.store(y_ptr + a * B + r * n + i, x, mask=i < n)
)"},
    {"Elements",
     R"(
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    j = i
    for k in tl.static_range(60):
        x = x * x + x
        j = (j * j + j) & 1023
    tl.store(y_ptr + j, x, mask=(i < n) & (j < n))
)"},
    {"Masks",
     R"(
    i = tl.arange(0, B)
    m = i < n
    p = x_ptr + i
    for k in tl.static_range(60):
        m = m & (m & (i + k < n) | m)
        p = tl.where(m, p, p + 1)
    tl.store(y_ptr + i, tl.load(p, mask=m, other=0.), mask=m)
)"},
    {"Sums",
     R"(
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.)
    s = tl.sum(x, 0)
    for k in tl.static_range(30):
        s = s * s + s
    for k in tl.static_range(60):
        x = tl.maximum(x, tl.maximum(x, s) * x)
    x = x - tl.max(x, 0)
    for k in tl.static_range(30):
        x = tl.exp(x) * x + x
    tl.store(y_ptr + i, x / tl.sum(x, 0), mask=i < n)
)"},
    {"Rounds",
     R"(
    i = tl.arange(0, B)
    at = n
    acc = tl.zeros((B,), tl.float32)
    for r in range(n):
        j = r
        for k in tl.static_range(60):
            j = j * j + j
        x = tl.load(x_ptr + j + i, mask=i < n, other=0.)
        y = x
        for k in tl.static_range(60):
            y = y * y + x * y
        acc += y
        at = at * at + at
    tl.store(y_ptr + at + i, acc, mask=i < n)
)"},
    {"Broadcasts",
     R"(
    i = tl.arange(0, 32)
    x = tl.load(x_ptr + i)
    t = x[:, None] + x[None, :]
    for k in tl.static_range(60):
        x = x * x + x
        t = t * x[:, None] + t * x[None, :]
    tl.store(y_ptr + i[:, None] * 32 + i[None, :], t.to(tl.float16).to(tl.float32))
)"},
    {"Products",
     R"(
    i = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for r in range(n):
        a = tl.load(x_ptr + r * 4096 + i[:, None] * 64 + i[None, :])
        b = tl.load(x_ptr + r * 4096 + i[:, None] * 64 + i[None, :])
        for k in tl.static_range(40):
            a = a * a + a
        acc = tl.dot(a.to(tl.float16), b.to(tl.float16), acc)
        acc = acc * acc + acc
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], acc)
)"},
};

std::string text_of(const Deep& deep, const char* target_name) {
  const Target target = Target::parse(target_name);
  const std::string python = fmt::format(
      "import triton\nimport triton.language as tl\n@triton.jit\n"
      "def k(x_ptr, y_ptr, n, B: tl.constexpr):{}",
      deep.body);
  python::ModuleLoader loader;
  const python::LoadedModule& module = loader.load_text("deep.py", python);
  const python::DecoratedFunction function = find_kernel(loader, module, "k");
  python::Evaluator evaluator(loader, {.facts = facts_of(target)});
  const auto parameters = read_parameters(loader, evaluator, function);
  const KernelOptions options{.num_warps = 4, .num_stages = 3};
  const TileKernel kernel = lower_to_tiles(
      loader, function, parse_signature("k", parameters, signature), target, options);
  return emit_source(loader, kernel, target, options).text;
}

class DeepExpressions : public testing::TestWithParam<Deep> {};

TEST_P(DeepExpressions, BecomeText) {
  for (const char* target : {"sm_90a", "sm_80", "avx512", "avx2"})
    EXPECT_NE(text_of(GetParam(), target), "") << target;
}

INSTANTIATE_TEST_SUITE_P(Kernels, DeepExpressions, testing::ValuesIn(kernels),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tilewright
