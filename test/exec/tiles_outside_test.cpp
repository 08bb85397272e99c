// SPDX-License-Identifier: Apache-2.0
// exec/tiles_outside_test.cpp — tiles of tensors without rows or columns, tiles that begin in front
// of their tensor or anywhere in a row: what is not there is neither read nor stored, whatever
// moves the tiles.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "codegen/device_lib/emulate/fibers.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

// Rounds do not depend on the depth, nor programs on the rows: only masks say what there is. Rows
// of A are read from their element `first` on, results go `up` lines before their rows.
constexpr const char* product_source = R"py(
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, rounds, stride, first, up, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for i in range(0, rounds):
        at = first + i * BK + depth
        left = tl.load(a + rows[:, None] * stride + at[None, :],
                       mask=(rows[:, None] < m) & (at[None, :] >= 0) & (at[None, :] < k), other=0.0)
        right = tl.load(b + columns[None, :] * stride + i * BK + depth[:, None],
                        mask=(columns[None, :] < n) & (depth[:, None] < k - i * BK), other=0.0)
        total = tl.dot(left, right, total)
    lines = rows - up
    tl.store(c + lines[:, None] * BN + columns[None, :], (total + 1.0).to(tl.float16),
             mask=(lines[:, None] >= 0) & (lines[:, None] < m) & (columns[None, :] < n))
)py";

Tensor positive_numbers(std::int64_t rows, std::int64_t columns, Device device) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<float>(i * 5 % 7 + 1));
  return from_blob(values.data(), {rows, columns}, {f32, Device::cpu()}).to(f16).to(device);
}

struct ProductSizes {
  std::int64_t m, n, k, first = 0, up = 0;
};

std::vector<float> product_of(TritonLaunch launch, Device device, const ProductSizes& sizes) {
  static const TritonKernel kernel = load_triton_source(product_source, "product");
  const Tensor a = positive_numbers(128, 64, device), b = positive_numbers(256, 64, device);
  const Tensor c = zeros({128, 256}, {f16, device});
  launch.grid = {1};
  launch.num_warps = 8;
  launch.num_stages = 3;
  const TritonArgument arguments[] = {a,
                                      b,
                                      c,
                                      sizes.m,
                                      sizes.n,
                                      sizes.k,
                                      1,
                                      64,
                                      sizes.first,
                                      sizes.up,
                                      constant("BM", 128),
                                      constant("BN", 256),
                                      constant("BK", 64)};
  kernel.launch(launch, arguments);
  return c.to(Device::cpu()).to(f32).to_vector<float>();
}

void expect_equal(const ProductSizes& sizes) {
  static const Target target = Target::parse("sm_90a");
  const std::vector<float> wanted = product_of({.interpret = true}, Device::cpu(), sizes);
  const auto said = fmt::format("{} {} {} {} {}", sizes.m, sizes.n, sizes.k, sizes.first, sizes.up);
  EXPECT_EQ(product_of({.emulate = &target}, Device::cpu(), sizes), wanted) << said;
  if (cuda_device_count() == 0) return;
  EXPECT_EQ(product_of({}, Device::cuda(), sizes), wanted) << said;
}

TEST(TilesOutside, OfTensorsWithoutElements) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  for (const ProductSizes& sizes :
       {ProductSizes{128, 256, 64}, ProductSizes{128, 256, 0}, ProductSizes{128, 0, 64},
        ProductSizes{0, 256, 64}, ProductSizes{128, -16, 64}})
    expect_equal(sizes);
}

TEST(TilesOutside, InFrontOfTheirTensor) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  for (const std::int64_t up : {1, 40, 128, 200}) expect_equal({128, 256, 64, 0, up});
}

// Maps copy from multiples of 16 bytes of a row on.
TEST(TilesOutside, FromAnyElementOfARow) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  for (const std::int64_t first : {8, 1, 37, -5}) expect_equal({128, 256, 64, first});
}

}  // namespace
}  // namespace tilewright
