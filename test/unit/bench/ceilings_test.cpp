// SPDX-License-Identifier: Apache-2.0
// bench/ceilings_test.cpp — the measuring kernels do what they claim; how fast is not tested.
#include "bench/ceilings.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Ceilings, CopyOfTheCpu) {
  const Ceiling copy = measure_copy(Device::cpu(), 3 << 20);
  EXPECT_EQ(copy.problem, "");
  EXPECT_GT(copy.per_second, 0);
  EXPECT_DOUBLE_EQ(copy.per_second, 2.0 * (3 << 20) / copy.times.median);
}

TEST(Ceilings, MultiplyAddOfTheCpu) {
  const Ceiling rate = measure_multiply_add(Device::cpu());
  EXPECT_EQ(rate.problem, "");
  EXPECT_GT(rate.per_second, 0);
}

TEST(Ceilings, Gpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  EXPECT_GT(measure_copy(Device::cuda(), 64 << 20).per_second, 0);
  const Ceiling rate = measure_multiply_add(Device::cuda());
  EXPECT_TRUE(rate.per_second > 0 || !rate.problem.empty());
}

}  // namespace
}  // namespace tilewright
