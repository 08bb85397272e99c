// SPDX-License-Identifier: Apache-2.0
// hygiene/must_fail.cpp — a test program that fails; harness_test checks that this is noticed.
#include <gtest/gtest.h>

TEST(MustFail, Fails) { EXPECT_EQ(1, 2); }
