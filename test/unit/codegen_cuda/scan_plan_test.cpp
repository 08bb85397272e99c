// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/scan_plan_test.cpp — which bits of a layout a scan goes over.
#include "passes/laid/scan_plan.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Sizes = std::vector<std::uint8_t>;

Layout blocked(const Sizes& sizes, int log_vector, int log_warps) {
  std::vector<int> order;
  for (int d = static_cast<int>(sizes.size()); d-- > 0;) order.push_back(d);
  return Layout::blocked({sizes, order, log_vector, 5, log_warps});
}

TEST(ScanPlan, OfARowHasVectorsLanesWarpsAndChunks) {
  const Sizes sizes = {12};
  const auto plan = plan_scan(blocked(sizes, 2, 2), sizes, 0);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->inner, 0b11);
  EXPECT_EQ(plan->lanes, 31);
  EXPECT_EQ(plan->warps, 0b11);
  EXPECT_EQ(plan->outer, 0b11100);
  EXPECT_EQ(plan->exchanged(), 8);
  EXPECT_EQ(plan->slots(4, 32), 32);
}

TEST(ScanPlan, DealsRowsOutSoThatAThreadHasConsecutiveOnes) {
  const Sizes sizes = {6, 6};
  const Layout dealt = with_axis_in_registers(blocked(sizes, 2, 1), sizes, 0, 2);
  EXPECT_EQ(dealt.to_string(), "register 1 2 64 128 256 512 | lane 4 8 16 32 1024 | warp 2048");
  const auto plan = plan_scan(dealt, sizes, 0);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->inner, 0b111100);
  EXPECT_EQ(plan->lanes, 0b10000);
  EXPECT_EQ(plan->warps, 1);
  EXPECT_EQ(plan->outer, 0);
  EXPECT_EQ(plan->exchanged(), 4);
  EXPECT_EQ(plan->slots(2, 32), 4 * 2 * 32);
}

TEST(ScanPlan, NeedsNoSlotsWithinAWarp) {
  const Sizes sizes = {3, 5};
  const auto plan = plan_scan(blocked(sizes, 0, 3), sizes, 1);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->lanes, 31);
  EXPECT_EQ(plan->slots(8, 32), 0);
}

TEST(ScanPlan, RefusesOtherOrders) {
  const Sizes sizes = {4};
  const BitMatrix none = BitMatrix::zero(4, 0);
  const auto of = [&](std::vector<std::uint64_t> lanes, std::vector<std::uint64_t> warps) {
    return Layout(none, BitMatrix(4, std::move(lanes)), BitMatrix(4, std::move(warps)));
  };
  EXPECT_TRUE(plan_scan(of({1, 2, 4}, {8}), sizes, 0));
  EXPECT_FALSE(plan_scan(of({2, 4, 8}, {1}), sizes, 0)) << "warps below lanes";
  EXPECT_FALSE(plan_scan(of({2, 1, 4}, {8}), sizes, 0)) << "lanes that fall";
  EXPECT_FALSE(plan_scan(of({3, 2, 4}, {8}), sizes, 0)) << "two bits in one column";
}

}  // namespace
}  // namespace tilewright
