// SPDX-License-Identifier: Apache-2.0
// exec/late_rows_test.cpp — CPU kernels that leave their row to be written while the next program
// computes: the same results wherever rows begin and end, nothing else written, small floats
// rounded as everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * stride
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + start + column, power / tl.sum(power, axis=0), mask=inside)


@triton.jit
def norm_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * stride
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
    tl.store(out_ptr + start + column, centred * scale + column % 3, mask=inside)


@triton.jit
def scaled_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * stride
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    total = tl.sum(power, axis=0)
    scale = 1.0
    for _ in range(columns % 4):
        scale = scale * 0.5
    more = 0.0
    if columns > 32:
        more = scale + 1.0
    tl.store(out_ptr + start + column, power / total * scale + more, mask=inside)


@triton.jit
def band_kernel(x_ptr, out_ptr, first, columns, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0) + tl.arange(0, 1)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (column >= first) & (column < columns) & (row < rows)
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=-float("inf"))
    power = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(out_ptr + row * columns + column, power / tl.sum(power, axis=1)[:, None], mask=inside)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def largest_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf"))
    top = tl.reduce(x, 0, larger)
    power = tl.exp(tl.where(x == x, x, 0.0))
    tl.store(out_ptr + start + column, power / tl.sum(power, axis=0) + top, mask=inside)


@triton.jit
def round_kernel(x_ptr, zero_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    zero = tl.load(zero_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.exp(zero), mask=i < n)
)";

constexpr std::int64_t block = 1024;
// So many programs of a block each are large results (device_lib/cpu/stream.h).
constexpr std::int64_t many_rows = (32 << 20) / (block * 2);

std::vector<double> softmax_of(const float* x, std::int64_t columns) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) top = std::max(top, double(x[i]));
  std::vector<double> out;
  for (std::int64_t i = 0; i < columns; ++i) sum += out.emplace_back(std::exp(x[i] - top));
  for (double& y : out) y /= sum;
  return out;
}

std::vector<double> norm_of(const float* x, std::int64_t columns) {
  double mean = 0, variance = 0;
  for (std::int64_t i = 0; i < columns; ++i) mean += x[i] / double(columns);
  for (std::int64_t i = 0; i < columns; ++i)
    variance += (x[i] - mean) * (x[i] - mean) / double(columns);
  std::vector<double> out;
  for (std::int64_t i = 0; i < columns; ++i)
    out.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) + double(i % 3));
  return out;
}

std::vector<double> scaled_of(const float* x, std::int64_t columns) {
  std::vector<double> out = softmax_of(x, columns);
  const double scale = std::pow(0.5, double(columns % 4));
  for (double& y : out) y = y * scale + (columns > 32 ? scale + 1 : 0);
  return out;
}

struct Rows {
  DType dtype;
  std::int64_t columns, stride, offset;
  bool in_place = false;
};

// Every row against float64; what lies between the rows and around them is as it was.
void check(const char* name, const Rows& rows, double tolerance,
           std::vector<double> (*reference)(const float*, std::int64_t)) {
  SCOPED_TRACE(::testing::Message() << name << " " << rows.columns << " of " << rows.stride
                                    << " at " << rows.offset << (rows.in_place ? " in place" : ""));
  const TritonKernel kernel = load_triton_source(source, name);
  const std::int64_t size = rows.offset + many_rows * rows.stride + 64;
  const Tensor values =
      randn({size}, RandomOptions{DType::Float32, Device::cpu()}.with_seed(7)).to(rows.dtype);
  Tensor memory = rows.in_place ? values.clone() : full({size}, -7.0, {rows.dtype, Device::cpu()});
  Tensor out = memory.slice(0, rows.offset, size);
  const Tensor in = rows.in_place ? out : values.slice(0, rows.offset, size);
  kernel[{many_rows}](in, out, rows.stride, rows.columns, constant("BLOCK", block));

  const std::vector<float> x = values.to(DType::Float32).to_vector<float>();
  const std::vector<float> y = memory.to(DType::Float32).to_vector<float>();
  for (std::int64_t row = 0; row < many_rows; row += row < 40 || row > many_rows - 40 ? 1 : 13) {
    const std::int64_t first = rows.offset + row * rows.stride;
    const std::vector<double> expected = reference(x.data() + first, rows.columns);
    for (std::int64_t i = 0; i < rows.columns; ++i)
      ASSERT_NEAR(y[static_cast<std::size_t>(first + i)], expected[static_cast<std::size_t>(i)],
                  tolerance)
          << "row " << row << ", element " << i;
    for (std::int64_t i = first + rows.columns; i < first + rows.stride; ++i)
      ASSERT_EQ(y[static_cast<std::size_t>(i)], rows.in_place ? x[static_cast<std::size_t>(i)] : -7)
          << "between the rows, behind row " << row;
  }
  for (std::int64_t i = 0; i < rows.offset; ++i)
    ASSERT_EQ(y[static_cast<std::size_t>(i)], rows.in_place ? x[static_cast<std::size_t>(i)] : -7);
  for (std::int64_t i = size - 64; i < size; ++i)
    ASSERT_EQ(y[static_cast<std::size_t>(i)], rows.in_place ? x[static_cast<std::size_t>(i)] : -7);
}

void check_both(const Rows& rows) {
  const bool is_small = rows.dtype != DType::Float32;
  check("softmax_kernel", rows, is_small ? 2e-3 : 1e-6, softmax_of);
  check("norm_kernel", rows, is_small ? 3e-2 : 1e-5, norm_of);
}

TEST(LateRows, RowsThatMeetWithinALine) {
  check_both({DType::Float32, 259, 259, 0});
  check_both({DType::Float32, 300, 300, 3});
}

TEST(LateRows, WholeLines) { check_both({DType::Float32, 272, 272, 0}); }

TEST(LateRows, RowsApart) {
  check_both({DType::Float32, 261, 270, 1});
  check_both({DType::Float32, 256, 263, 16});
}

TEST(LateRows, RowsShorterThanALine) {
  check_both({DType::Float32, 1, 1, 5});
  check_both({DType::Float32, 7, 7, 0});
  check_both({DType::Float32, 33, 33, 9});
}

TEST(LateRows, SmallFloats) {
  check_both({DType::BFloat16, 259, 259, 3});
  check_both({DType::BFloat16, 31, 31, 0});
  check_both({DType::Float16, 300, 301, 1});
}

TEST(LateRows, InPlace) {
  check_both({DType::Float32, 259, 259, 2, true});
  check_both({DType::BFloat16, 259, 259, 2, true});
}

// What the row is computed from may be the result of a loop or a branch.
TEST(LateRows, ScalarsOfLoopsAndBranches) {
  check("scaled_kernel", {DType::Float32, 259, 259, 0}, 1e-6, scaled_of);
  check("scaled_kernel", {DType::Float32, 30, 33, 3}, 1e-6, scaled_of);
}

// A tile of one row, with masks at both ends and one that leaves whole programs out.
TEST(LateRows, RowsThatBeginLater) {
  constexpr std::int64_t rows = 9, columns = 300;
  const TritonKernel kernel = load_triton_source(source, "band_kernel");
  const Tensor values =
      randn({rows * columns}, RandomOptions{DType::Float32, Device::cpu()}.with_seed(5));
  const std::vector<float> x = values.to_vector<float>();
  for (const std::int64_t first : {0, 5, 40}) {
    Tensor out = full({(rows + 1) * columns}, -7.0, {DType::Float32, Device::cpu()});
    kernel[{rows + 1}](values, out, first, columns, rows, constant("BLOCK", block));
    const std::vector<float> y = out.to_vector<float>();
    for (std::int64_t i = 0; i < (rows + 1) * columns; ++i) {
      const std::int64_t start = i / columns * columns + first;
      const bool is_inside = i < rows * columns && i >= start;
      const double expected =
          is_inside ? softmax_of(x.data() + start, columns - first)[std::size_t(i - start)] : -7.0;
      ASSERT_NEAR(y[static_cast<std::size_t>(i)], expected, 1e-6) << i << ", from " << first;
    }
  }
}

// NaN and infinities stay in their rows.
TEST(LateRows, RowsWithoutNumbers) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr std::int64_t columns = 300, rows = 5;
  std::vector<float> x(static_cast<std::size_t>(columns * rows), 1.0f);
  const auto row = [&](std::int64_t number) { return x.begin() + number * columns; };
  std::fill(row(1), row(2), nan);
  std::fill(row(2), row(3), -inf);
  *(row(3) + 150) = nan;
  const TritonKernel kernel = load_triton_source(source, "softmax_kernel");
  Tensor out = zeros({rows * columns}, {DType::Float32, Device::cpu()});
  kernel[{rows}](tensor(x, Device::cpu()), out, columns, columns, constant("BLOCK", block));
  const std::vector<float> y = out.to_vector<float>();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t number = i / columns;
    if (number == 0 || number == 4) ASSERT_NEAR(y[i], 1.0 / columns, 1e-8) << i;
    else ASSERT_TRUE(std::isnan(y[i])) << i;
  }
}

// A largest element that is NaN where one is: at every place of the row, and at none.
TEST(LateRows, OneNanIsTheLargest) {
  constexpr std::int64_t columns = 300, rows = columns + 2;
  std::vector<float> x(static_cast<std::size_t>(columns * rows), 1.0f);
  for (std::int64_t i = 0; i < columns; ++i)
    x[static_cast<std::size_t>(i * columns + i)] = std::numeric_limits<float>::quiet_NaN();
  x[static_cast<std::size_t>(columns * columns + 17)] = -std::numeric_limits<float>::infinity();
  const TritonKernel kernel = load_triton_source(source, "largest_kernel");
  Tensor out = zeros({rows * columns}, {DType::Float32, Device::cpu()});
  kernel[{rows}](tensor(x, Device::cpu()), out, columns, constant("BLOCK", block));
  const std::vector<float> y = out.to_vector<float>();
  for (std::int64_t i = 0; i < columns * columns; ++i)
    ASSERT_TRUE(std::isnan(y[static_cast<std::size_t>(i)])) << i;
  for (std::int64_t i = columns * columns; i < columns * rows; ++i)
    ASSERT_NEAR(y[static_cast<std::size_t>(i)], 1.0, 0.01) << i;
}

// Every upper half of a float32 with lower halves around the limits of rounding.
template <class T>
void rounds(DType dtype) {
  std::vector<float> x;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (const std::uint32_t low : {0u, 1u, 0x1000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  const auto n = static_cast<std::int64_t>(x.size());
  Tensor out = zeros({n}, {dtype, Device::cpu()});
  const TritonKernel kernel = load_triton_source(source, "round_kernel");
  kernel[{cdiv(n, block)}](tensor(x, Device::cpu()), zeros({n}, {DType::Float32, Device::cpu()}),
                           out, n, constant("BLOCK", block));
  const T* const got = out.data<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto expected = static_cast<float>(T(x[i]));
    const auto found = static_cast<float>(got[i]);
    if (std::isnan(expected)) ASSERT_TRUE(std::isnan(found)) << std::bit_cast<std::uint32_t>(x[i]);
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected))
          << "of " << x[i];
  }
}

TEST(LateRows, RoundingIsExact) {
  rounds<BFloat16>(DType::BFloat16);
  rounds<Half>(DType::Float16);
}

}  // namespace
}  // namespace tilewright
