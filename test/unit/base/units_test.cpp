// SPDX-License-Identifier: Apache-2.0
// base/units_test.cpp — numbers with units.
#include "base/units.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Units, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536u << 20), "1.50 GiB");
}

TEST(Units, Seconds) {
  EXPECT_EQ(format_seconds(8.5e-7), "850 ns");
  EXPECT_EQ(format_seconds(1.234e-5), "12.3 us");
  EXPECT_EQ(format_seconds(0.0012), "1.20 ms");
  EXPECT_EQ(format_seconds(3), "3.00 s");
}

TEST(Units, Rates) {
  EXPECT_EQ(format_rate(4.213e12, "B/s"), "4.21 TB/s");
  EXPECT_EQ(format_rate(45e9, "B/s"), "45.0 GB/s");
}

}  // namespace
}  // namespace tilewright
