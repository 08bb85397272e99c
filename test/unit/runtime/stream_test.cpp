// SPDX-License-Identifier: Apache-2.0
// runtime/stream_test.cpp — streams and events of the CPU, and devices by name.
#include "tilewright/stream.h"

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Stream, OfTheCpuIsAlwaysIdle) {
  const Stream stream = Stream::create(Device::cpu());
  EXPECT_TRUE(stream.is_idle());
  stream.synchronize();
  EXPECT_EQ(stream, current_stream(Device::cpu()));
}

}  // namespace
}  // namespace tilewright
