// SPDX-License-Identifier: Apache-2.0
// base/target_test.cpp — targets by name, and this machine.
#include "tilewright/target.h"

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Target, HopperHasItsInstructions) {
  const Target target = Target::parse("sm_90a");
  EXPECT_TRUE(target.is_cuda());
  EXPECT_TRUE(target.has_wgmma);
  EXPECT_EQ(target.shared_bytes_per_block_optin, 232448);
  EXPECT_FALSE(Target::parse("sm_90").has_wgmma);
  EXPECT_FALSE(Target::parse("sm_80").has_tma);
}

TEST(Target, HostIsACpuWithCores) {
  EXPECT_FALSE(Target::host().is_cuda());
  EXPECT_GE(Target::host().processors, 1);
  EXPECT_GE(Target::host().vector_bits, 128);
}

TEST(Target, UnknownNameIsRefused) { EXPECT_THROW(Target::parse("sm_9"), ArgumentError); }

}  // namespace
}  // namespace tilewright
