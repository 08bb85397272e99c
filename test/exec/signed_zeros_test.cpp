// SPDX-License-Identifier: Apache-2.0
// exec/signed_zeros_test.cpp — the signs of zeros, as Triton has them: sums of -0 alone are -0, as
// where elements are added to each other and to nothing else, and a masked load's 0 makes 0 of
// them; -x is 0 - x, the constant -0.0 is 0, and of two zeros 0 is the larger.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "codegen/device_lib/emulate/fibers.h"
#include "tilewright/target.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr const char* zeros_source = R"(
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, out_ptr, n, minus, SIZE: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i, mask=i < n, other=minus)
    tl.store(out_ptr, tl.sum(x, axis=0))
    tl.store(out_ptr + 1, tl.sum(tl.load(x_ptr + i), axis=0))
    tile = tl.reshape(x, (SIZE // WIDTH, WIDTH))
    tl.store(out_ptr + 2, tl.sum(tl.sum(tile, axis=1), axis=0))
    tl.store(out_ptr + 3, tl.sum(tl.sum(tile, axis=0), axis=0))
    tl.store(out_ptr + 4, tl.sum(x.to(tl.float16), axis=0).to(tl.float32))
    tl.store(out_ptr + 5, tl.sum(x.to(tl.float64), axis=0).to(tl.float32))
    running = tl.cumsum(x, axis=0)
    tl.store(out_ptr + 6, tl.max(tl.where(i == SIZE - 1, running, -1.0), axis=0))
    back = tl.cumsum(x, axis=0, reverse=True)
    tl.store(out_ptr + 7, tl.max(tl.where(i == 0, back, -1.0), axis=0))


@triton.jit
def masked_sum(x_ptr, out_ptr, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), axis=0))


@triton.jit
def sum_beside_row(x_ptr, row_ptr, out_ptr, n, minus, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i, mask=i < n, other=minus)
    product = tl.exp2(x) * x
    total = tl.sum(product, axis=0)
    tl.store(out_ptr, total)
    tl.store(row_ptr + i, product / total, mask=i < n)


@triton.jit
def negations(x_ptr, y_ptr, out_ptr, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i)  # 0
    y = tl.load(y_ptr + i)  # -0
    out = out_ptr + i
    tl.store(out, -x)
    tl.store(out + 1 * SIZE, -y)
    tl.store(out + 2 * SIZE, 1.0 / (1.0 / -x))
    tl.store(out + 3 * SIZE, -x + -x)  # each alone could be -0
    tl.store(out + 4 * SIZE, -x + y)
    tl.store(out + 5 * SIZE, -(x * 3.0))
    tl.store(out + 6 * SIZE, y - -x)
    total = tl.zeros((SIZE,), tl.float32)
    carried = y
    for k in range(n):
        total += -x * k
        carried += -x
    tl.store(out + 7 * SIZE, total)
    tl.store(out + 8 * SIZE, carried)
    tl.store(out + 9 * SIZE, tl.sum(-x, axis=0) + tl.zeros((SIZE,), tl.float32) * -1.0)
    tl.store(out + 10 * SIZE, (-x.to(tl.float16)).to(tl.float32))
    tl.store(out + 11 * SIZE, (-x.to(tl.bfloat16)).to(tl.float32))
    tl.store(out + 12 * SIZE, (-x.to(tl.float64)).to(tl.float32))
    tl.store(out + 13 * SIZE, tl.where(x < -x, y, -x))
    tl.store(out + 14 * SIZE, x * -1.0)
    tl.store(out + 15 * SIZE, -(-x))


@triton.jit
def constants(y_ptr, out_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    y = tl.load(y_ptr + i)  # -0
    out = out_ptr + i
    tl.store(out, -0.0)
    tl.store(out + 1 * SIZE, y + -0.0)
    tl.store(out + 2 * SIZE, tl.full((SIZE,), -0.0, tl.float32))
    tl.store(out + 3 * SIZE, tl.load(y_ptr + i, mask=i < 0, other=-0.0))
    tl.store(out + 4 * SIZE, tl.where(i < 0, y, -0.0))
    tl.store(out + 5 * SIZE, tl.full((SIZE,), -1e-50, tl.float64).to(tl.float32))


@triton.jit
def extremes(x_ptr, y_ptr, out_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i)  # 0
    y = tl.load(y_ptr + i)  # -0
    out = out_ptr + i
    tl.store(out, tl.maximum(y, 0.0))
    tl.store(out + 1 * SIZE, tl.maximum(0.0, y))
    tl.store(out + 2 * SIZE, tl.maximum(y, tl.zeros((SIZE,), tl.float32)))
    tl.store(out + 3 * SIZE, tl.maximum(x, y))
    tl.store(out + 4 * SIZE, tl.maximum(y, x))
    tl.store(out + 5 * SIZE, tl.minimum(x, y))
    tl.store(out + 6 * SIZE, tl.minimum(y, x))
    tl.store(out + 7 * SIZE, tl.minimum(y, 0.0))
    tl.store(out + 8 * SIZE, tl.max(tl.where(i == 3, x, y), axis=0))
    tl.store(out + 9 * SIZE, tl.min(tl.where(i == 3, y, x), axis=0))
)";

enum class Way { Interpreter, Cpu, Emulated };

// Sums meet at barriers, which are not emulated under the thread sanitizer.
std::vector<Way> ways() {
  std::vector<Way> ways = {Way::Interpreter, Way::Cpu};
  if (can_emulate_barriers()) ways.push_back(Way::Emulated);
  return ways;
}

TritonLaunch launch_on(Way way, int warps) {
  static const Target sm_90a = Target::parse("sm_90a");
  TritonLaunch launch{.grid = 1, .interpret = way == Way::Interpreter};
  if (way == Way::Emulated) launch.emulate = &sm_90a;
  launch.num_warps = warps;
  return launch;
}

std::string signs_of(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += value != 0 ? '?' : std::signbit(value) ? '-' : '+';
  return text;
}

TEST(SignedZeros, SumsOfNegativeZerosAreNegative) {
  const TritonKernel kernel = load_triton_source(zeros_source, "sums");
  for (const Way way : ways())
    for (const int size : {32, 128, 2048}) {
      const Tensor x = full({size}, -0.0, {DType::Float32, Device::cpu()});
      const Tensor out = ones({8}, {DType::Float32, Device::cpu()});
      kernel[launch_on(way, size == 2048 ? 4 : 1)](x, out, size - 3, -0.0, constant("SIZE", size),
                                                   constant("WIDTH", 16));
      EXPECT_EQ(signs_of(out.to_vector<float>()), "--------")
          << size << " elements, way " << static_cast<int>(way);
    }
}

// On a CPU the terms are kept for the row, which the next program writes.
TEST(SignedZeros, ASumWhoseTermsAreKeptIsNegative) {
  const TritonKernel kernel = load_triton_source(zeros_source, "sum_beside_row");
  const Tensor x = full({1024}, -0.0, {DType::Float32, Device::cpu()});
  for (const Way way : ways())
    for (const int n : {1024, 1000}) {
      const Tensor row = empty({1024}, {DType::Float32, Device::cpu()});
      const Tensor out = ones({1}, {DType::Float32, Device::cpu()});
      kernel[launch_on(way, 4)](x, row, out, n, -0.0, constant("SIZE", 1024));
      EXPECT_EQ(signs_of(out.to_vector<float>()), "-")
          << n << " elements, way " << static_cast<int>(way);
    }
}

TEST(SignedZeros, AMaskedZeroCounts) {
  const TritonKernel kernel = load_triton_source(zeros_source, "masked_sum");
  const Tensor x = full({1024}, -0.0, {DType::Float32, Device::cpu()});
  for (const Way way : ways())
    for (const int n : {1024, 1023, 0}) {
      const Tensor out = ones({1}, {DType::Float32, Device::cpu()});
      kernel[launch_on(way, 4)](x, out, n, constant("SIZE", 1024));
      EXPECT_EQ(signs_of(out.to_vector<float>()), n == 1024 ? "-" : "+")
          << n << " elements, way " << static_cast<int>(way);
    }
}

// The signs of rows of `out`, each of one sign.
std::string signs_of_rows(const Tensor& out, int rows) {
  const std::string all = signs_of(out.to_vector<float>());
  const std::size_t size = all.size() / static_cast<std::size_t>(rows);
  std::string signs;
  for (std::size_t at = 0; at < all.size(); at += size)
    signs += all.substr(at, size) == std::string(size, all[at]) ? all[at] : '?';
  return signs;
}

constexpr int zeros_size = 64;
Tensor zeros_of(double value, int rows = 1) {
  return full({rows * zeros_size}, value, {DType::Float32, Device::cpu()});
}

TEST(SignedZeros, NegationsAreDifferencesFrom0) {
  const TritonKernel kernel = load_triton_source(zeros_source, "negations");
  for (const Way way : ways())
    for (const int n : {0, 1, 5}) {
      const Tensor out = zeros_of(1, 16);
      kernel[launch_on(way, 1)](zeros_of(0), zeros_of(-0.0), out, n, constant("SIZE", zeros_size));
      EXPECT_EQ(signs_of_rows(out, 16), n == 0 ? "++++++-+-+++++-+" : "++++++-+++++++-+")
          << n << " rounds, way " << static_cast<int>(way);
    }
}

TEST(SignedZeros, NoConstantIsNegative) {
  const TritonKernel kernel = load_triton_source(zeros_source, "constants");
  for (const Way way : ways()) {
    const Tensor out = zeros_of(1, 6);
    kernel[launch_on(way, 1)](zeros_of(-0.0), out, constant("SIZE", zeros_size));
    EXPECT_EQ(signs_of_rows(out, 6), "+++++-") << "way " << static_cast<int>(way);
  }
}

// Of two values a CPU gives either, as its instruction does.
TEST(SignedZeros, TheLargerOfTwoZerosIsPositive) {
  const TritonKernel kernel = load_triton_source(zeros_source, "extremes");
  for (const Way way : ways()) {
    const Tensor out = zeros_of(1, 10);
    kernel[launch_on(way, 1)](zeros_of(0), zeros_of(-0.0), out, constant("SIZE", zeros_size));
    const std::string signs = signs_of_rows(out, 10);
    if (way == Way::Cpu) EXPECT_EQ(signs.substr(0, 3), "+++");
    else EXPECT_EQ(signs, "+++++---+-") << "way " << static_cast<int>(way);
  }
}

}  // namespace
}  // namespace tilewright
