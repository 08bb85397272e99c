// SPDX-License-Identifier: Apache-2.0
// exec/conformance/conformance_test.cpp — each kernel gives the same on every way, over sizes and
// types: against the interpreter, whose floats are exact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ways.h"

namespace tilewright::conformance {
namespace {

constexpr const char* kernels = R"(import triton
import triton.language as tl

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

@triton.jit
def softmax(x_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
    power = tl.exp((x - tl.max(x, axis=0)) * a)
    tl.store(out_ptr + row * n + i, power / tl.sum(power, axis=0), mask=i < n)

@triton.jit
def running_sum(x_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    total = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32) * a, axis=0)
    if total > 0:
        tl.store(out_ptr, total)
    else:
        tl.store(out_ptr, -total)
)";

struct Case {
  const char* kernel;
  DType dtype;
  bool rows = false;     // the grid counts rows of n elements
  bool sums_up = false;  // one program, one result
  double tolerance = 0;  // relative, against the interpreter
};
const Case cases[] = {
    {"polynomial", f32, false, false, 1e-6},
    {"polynomial", f16, false, false, 1e-3},
    {"polynomial", bf16, false, false, 8e-3},
    {"integers", i32},
    {"integers", i64},
    {"integers", u8},
    {"softmax", f32, true, false, 2e-6},
    {"softmax", bf16, true, false, 8e-3},
    {"running_sum", f32, false, true, 1e-5},
    {"running_sum", f16, false, true, 1e-3},
};

Tensor input(const Case& c, std::int64_t count, Device device) {
  if (is_floating(c.dtype))
    return randn({count}, RandomOptions(f32, device).with_seed(7)).to(c.dtype);
  return arange(count, {i64, device}).to(c.dtype);
}

class Conformance : public ::testing::TestWithParam<std::tuple<Way, std::size_t>> {};

TEST_P(Conformance, AgreesWithTheInterpreter) {
  const Way way = std::get<0>(GetParam());
  const Case& c = cases[std::get<1>(GetParam())];
  const TritonKernel kernel = load_triton_source(kernels, c.kernel);
  for (const std::int64_t n : {1, 7, 97, 128, 1000}) {
    const std::int64_t rows = c.rows ? 3 : 1;
    const std::int64_t block = c.rows ? next_power_of_2(n) : 128;
    const Dim3 grid = c.rows ? rows : c.sums_up ? 1 : cdiv(n, block);
    const auto result = [&](Way on) {
      const Tensor x = input(c, rows * n, device_of(on));
      const Tensor out = zeros({rows * n}, {c.dtype, device_of(on)});
      const TritonArgument arguments[] = {x, out, n, 1.5, constant("BLOCK", block)};
      run(on, kernel, grid, 4, arguments);
      return out.to(Device::cpu());
    };
    EXPECT_TRUE(allclose(result(way), result(Way::Interpreter),
                         {.relative = c.tolerance, .absolute = c.tolerance}))
        << c.kernel << " of " << n << " " << tilewright::name_of(c.dtype);
  }
}

std::string test_name(const ::testing::TestParamInfo<Conformance::ParamType>& test) {
  const Case& c = cases[std::get<1>(test.param)];
  return fmt::format("{}_{}_{}", name_of(std::get<0>(test.param)), c.kernel,
                     tilewright::name_of(c.dtype));
}

INSTANTIATE_TEST_SUITE_P(, Conformance,
                         ::testing::Combine(::testing::ValuesIn(all_ways()),
                                            ::testing::Range(std::size_t{0}, std::size(cases))),
                         test_name);

}  // namespace
}  // namespace tilewright::conformance
