// SPDX-License-Identifier: Apache-2.0
// exec/quotients_test.cpp — a quotient is the same number wherever a kernel of the CPU computes it:
// compilers do not fuse the product that it is made by with a sum. (On GPUs ptxas does, with the
// product that its own division ends in too.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tilewright/ops.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

// How far each quotient is below the largest one of its row, as a root: NaN where it is above.
constexpr const char* source = R"(
import triton
import triton.language as tl


@triton.jit
def by_argument(x_ptr, y_ptr, out_ptr, n, SIZE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    q = x / tl.load(y_ptr + row)
    tl.store(out_ptr + row * n + i, tl.sqrt(tl.max(q, 0) - q), mask=i < n)


@triton.jit
def by_sum(x_ptr, y_ptr, out_ptr, n, SIZE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    q = x / (tl.sum(tl.abs(x), 0) + 1)
    tl.store(out_ptr + row * n + i, tl.sqrt(tl.max(q, 0) - q), mask=i < n)


@triton.jit
def by_constant(x_ptr, y_ptr, out_ptr, n, SIZE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    q = x / 3.0
    tl.store(out_ptr + row * n + i, tl.sqrt(tl.max(q, 0) - q), mask=i < n)


@triton.jit
def of_two_loops(x_ptr, y_ptr, out_ptr, n, SIZE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, SIZE)
    y = tl.load(y_ptr + row)
    largest = -float("inf")
    for first in range(0, n, SIZE):
        x = tl.load(x_ptr + row * n + first + i, mask=first + i < n, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x / y, 0))
    for first in range(0, n, SIZE):
        x = tl.load(x_ptr + row * n + first + i, mask=first + i < n, other=0.0)
        tl.store(out_ptr + row * n + first + i, tl.sqrt(largest - x / y), mask=first + i < n)
)";

constexpr std::int64_t rows = 40, columns = 500;

void expect_no_quotient_above_the_largest(const char* kernel, int size) {
  const TritonKernel loaded = load_triton_source(source, kernel);
  const RandomOptions options{DType::Float32, Device::cpu()};
  const Tensor x = randn({rows, columns}, options), y = add(rand({rows}, options), 0.25);
  const Tensor out = empty({rows, columns}, options);
  loaded[{.grid = rows}](x, y, out, columns, constant("SIZE", size));
  const std::vector<float> roots = out.to_vector<float>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto begin = roots.begin() + row * columns;
    EXPECT_EQ(*std::min_element(begin, begin + columns), 0.0f) << "row " << row;
    EXPECT_TRUE(std::none_of(begin, begin + columns, [](float root) { return std::isnan(root); }))
        << "row " << row;
  }
}

TEST(Quotients, ByAnArgumentAreTheSameEverywhere) {
  expect_no_quotient_above_the_largest("by_argument", 512);
}
TEST(Quotients, BySumsAreTheSameEverywhere) { expect_no_quotient_above_the_largest("by_sum", 512); }
TEST(Quotients, ByConstantsAreTheSameEverywhere) {
  expect_no_quotient_above_the_largest("by_constant", 512);
}
TEST(Quotients, OfTwoLoopsAreTheSame) { expect_no_quotient_above_the_largest("of_two_loops", 128); }

}  // namespace
}  // namespace tilewright
