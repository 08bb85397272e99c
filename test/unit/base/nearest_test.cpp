// SPDX-License-Identifier: Apache-2.0
// base/nearest_test.cpp — what a person may have meant.
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Nearest, SuggestsCloseNames) {
  const std::vector<std::string> known = {"gelu_kernel", "softmax_kernel", "add"};
  EXPECT_EQ(suggest_names("gelu_kernal", known), "; did you mean 'gelu_kernel'?");
  EXPECT_EQ(suggest_names("gelu", known), "; did you mean 'gelu_kernel'?");
  EXPECT_EQ(suggest_names("zzzzzzzz", known), "; there are: gelu_kernel, softmax_kernel, add");
  EXPECT_EQ(suggest_names("x", {}), "; there are none");
}

TEST(Nearest, FarNamesAreNotSuggested) {
  const std::vector<std::string> known = {"i", "x", "cos", "arange", "N"};
  EXPECT_TRUE(nearest_names("undefined_thing", known).empty());
  EXPECT_TRUE(nearest_names("y", known).empty());
  EXPECT_TRUE(nearest_names("foo", known).empty());
  EXPECT_EQ(nearest_names("aragne", known), std::vector<std::string>{"arange"});
  EXPECT_EQ(nearest_names("n", known), std::vector<std::string>{"N"});
}

}  // namespace
}  // namespace tilewright
