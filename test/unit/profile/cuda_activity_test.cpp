// SPDX-License-Identifier: Apache-2.0
// profile/cuda_activity_test.cpp — profiles of a GPU, where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/device.h"
#include "tilewright/profile.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

using ::testing::IsEmpty;

TEST(CudaActivity, KernelsAndCopiesAreSeenUnderTheirRange) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  randn({16}, {DType::Float32, Device::cuda()});  // contexts and modules are made outside
  const Profile p = profile([] {
    const Range range("work");
    const Tensor x = randn({1024, 1024}, {DType::Float32, Device::cuda()});
    x.cpu();
  });
  ASSERT_THAT(p.notes(), IsEmpty());
  bool has_kernel = false, has_copy = false;
  for (const ProfileRow& row : p.rows()) {
    has_kernel |= row.kind == "kernel" && row.self_device_seconds > 0;
    has_copy |= row.name == "copy device to host" && row.bytes == 4 << 20;
    if (row.name == "work") {
      EXPECT_GT(row.device_seconds, 0);
    }
  }
  EXPECT_TRUE(has_kernel);
  EXPECT_TRUE(has_copy);
  EXPECT_GE(p.peak_bytes(0), 4 << 20);
  // Device work lies inside the profile's time, on the same clock.
  EXPECT_LT(p.seconds(), 10);
}

TEST(CudaActivity, AnItemIsAWait) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const Tensor x = randn({1}, {DType::Float32, Device::cuda()});
  const Profile p = profile([&] { x.item<float>(); });
  bool has_wait = false;
  for (const ProfileRow& row : p.rows()) has_wait |= row.kind == "wait" && row.name == "item";
  EXPECT_TRUE(has_wait);
}

}  // namespace
}  // namespace tilewright
