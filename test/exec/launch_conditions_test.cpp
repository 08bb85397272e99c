// SPDX-License-Identifier: Apache-2.0
// exec/launch_conditions_test.cpp — code that is for positive strides alone: launches with others
// take another one, and all give what the interpreter gives.
#include <gtest/gtest.h>

#include "../unit/codegen_cuda/kernel_sources.h"
#include "codegen/device_lib/emulate/fibers.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr std::int64_t m = 130, n = 272, k = 96;

// Small whole numbers, whose sums of 96 products are exact.
Tensor numbers(std::int64_t rows, std::int64_t columns, std::int64_t step, Device device) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<float>(i * step % 7 - 3));
  return from_blob(values.data(), {rows, columns}, {f32, Device::cpu()}).to(f16).to(device);
}

// A row of A after the other, or the same one again and again.
std::vector<float> product(TritonLaunch launch, Device device, std::int64_t a_stride) {
  static const TritonKernel kernel = load_triton_source(
      std::string("import triton\nimport triton.language as tl\n") + looping_product_source,
      "looping_product");
  const Tensor a = numbers(m, k, 5, device), b = numbers(n, k, 3, device);
  const Tensor c = zeros({m, n}, {f16, device});
  launch.grid = {2};
  launch.num_warps = 8;
  launch.num_stages = 3;
  const TritonArgument arguments[] = {a,
                                      b,
                                      c,
                                      m,
                                      n,
                                      k,
                                      a_stride,
                                      k,
                                      n,
                                      constant("PROGRAMS", 2),
                                      constant("BM", 128),
                                      constant("BN", 256),
                                      constant("BK", 64)};
  kernel.launch(launch, arguments);
  return c.to(Device::cpu()).to(f32).to_vector<float>();
}

TEST(LaunchConditions, StridesOf0AreNoRowsOfATensorMap) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  const Target target = Target::parse("sm_90a");
  for (const std::int64_t stride : {k, std::int64_t{0}}) {
    const std::vector<float> wanted = product({.interpret = true}, Device::cpu(), stride);
    EXPECT_EQ(product({.emulate = &target}, Device::cpu(), stride), wanted) << stride;
    if (cuda_device_count() == 0) continue;
    EXPECT_EQ(product({}, Device::cuda(), stride), wanted) << stride;
  }
}

}  // namespace
}  // namespace tilewright
