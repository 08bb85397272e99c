// SPDX-License-Identifier: Apache-2.0
// exec/signed_zeros_test.cpp — sums of -0 alone are -0, as where elements are added to each other
// and to nothing else; a masked load's 0 makes 0 of them.
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
def sums(x_ptr, out_ptr, n, SIZE: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i, mask=i < n, other=-0.0)
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
def sum_beside_row(x_ptr, row_ptr, out_ptr, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i, mask=i < n, other=-0.0)
    product = tl.exp2(x) * x
    total = tl.sum(product, axis=0)
    tl.store(out_ptr, total)
    tl.store(row_ptr + i, product / total, mask=i < n)
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
      kernel[launch_on(way, size == 2048 ? 4 : 1)](x, out, size - 3, constant("SIZE", size),
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
      kernel[launch_on(way, 4)](x, row, out, n, constant("SIZE", 1024));
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

}  // namespace
}  // namespace tilewright
