// SPDX-License-Identifier: Apache-2.0
// hygiene/harness_test.cpp — the harness can fail: a failing test ends its program with an error
// that we can see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"

namespace tilewright {
namespace {

TEST(Harness, FailingTestIsSeen) {
  const ProcessResult result = run_process({.arguments = {TW_MUST_FAIL}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, testing::HasSubstr("1 FAILED TEST"));
}

}  // namespace
}  // namespace tilewright
