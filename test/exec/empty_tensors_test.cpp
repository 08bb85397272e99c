// SPDX-License-Identifier: Apache-2.0
// exec/empty_tensors_test.cpp — tiles of tensors without rows or columns: nothing is read, nothing
// is stored, whatever moves the tiles.
#include <gtest/gtest.h>

#include "codegen/device_lib/emulate/fibers.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

// Rounds do not depend on the depth, nor programs on the rows: only masks say what there is.
constexpr const char* empty_product_source = R"py(
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, rounds, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for i in range(0, rounds):
        left = tl.load(a + rows[:, None] * stride + i * BK + depth[None, :],
                       mask=(rows[:, None] < m) & (depth[None, :] < k - i * BK), other=0.0)
        right = tl.load(b + columns[None, :] * stride + i * BK + depth[:, None],
                        mask=(columns[None, :] < n) & (depth[:, None] < k - i * BK), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * BN + columns[None, :], (total + 1.0).to(tl.float16),
             mask=(rows[:, None] < m) & (columns[None, :] < n))
)py";

Tensor positive_numbers(std::int64_t rows, std::int64_t columns, Device device) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<float>(i * 5 % 7 + 1));
  return from_blob(values.data(), {rows, columns}, {f32, Device::cpu()}).to(f16).to(device);
}

struct ProductSizes {
  std::int64_t m, n, k;
};

std::vector<float> product_of(TritonLaunch launch, Device device, const ProductSizes& sizes) {
  static const TritonKernel kernel = load_triton_source(empty_product_source, "product");
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
                                      constant("BM", 128),
                                      constant("BN", 256),
                                      constant("BK", 64)};
  kernel.launch(launch, arguments);
  return c.to(Device::cpu()).to(f32).to_vector<float>();
}

TEST(EmptyTensors, HaveNoTiles) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  const Target target = Target::parse("sm_90a");
  for (const ProductSizes& sizes :
       {ProductSizes{128, 256, 64}, ProductSizes{128, 256, 0}, ProductSizes{128, 0, 64},
        ProductSizes{0, 256, 64}, ProductSizes{128, -16, 64}}) {
    const std::vector<float> wanted = product_of({.interpret = true}, Device::cpu(), sizes);
    EXPECT_EQ(product_of({.emulate = &target}, Device::cpu(), sizes), wanted)
        << sizes.m << " " << sizes.n << " " << sizes.k;
    if (cuda_device_count() == 0) continue;
    EXPECT_EQ(product_of({}, Device::cuda(), sizes), wanted)
        << sizes.m << " " << sizes.n << " " << sizes.k;
  }
}

}  // namespace
}  // namespace tilewright
