// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/components_test.cpp — every part of CUDA is reported, found or not.
#include "runtime/components.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "runtime/backend.h"
#include "runtime/cuda/nvrtc_api.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<ComponentStatus>& all) {
  std::vector<std::string> found;
  for (const ComponentStatus& one : all) found.push_back(one.name);
  return found;
}

TEST(Components, AreListedInAFixedOrder) {
  EXPECT_THAT(names(cuda_components()), ElementsAre("NVIDIA driver", "NVRTC", "CUPTI", "cuBLASLt",
                                                    "cuDNN", "nvJitLink", "nvdisasm"));
}

TEST(Components, EachIsFoundOrSaysWhy) {
  for (const ComponentStatus& one : cuda_components()) {
    EXPECT_FALSE(one.purpose.empty()) << one.name;
    EXPECT_FALSE(one.remedy.empty()) << one.name;
    if (one.is_usable()) EXPECT_TRUE(one.path.starts_with('/')) << one.name << " at " << one.path;
    else EXPECT_FALSE(one.problem.empty()) << one.name;
  }
}

TEST(Components, NvrtcTellsItsVersion) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const ComponentStatus nvrtc = cuda_components()[1];
  EXPECT_TRUE(nvrtc.is_usable()) << nvrtc.problem;
  EXPECT_GE(std::stoi(nvrtc.version), 12);
}

TEST(Components, NoneHidesAll) {
  Settings hidden = settings();
  hidden.cuda_home = "none";
  const SettingsOverride override_settings(hidden);
  for (const ComponentStatus& one : cuda_components()) {
    EXPECT_FALSE(one.is_usable()) << one.name;
    EXPECT_EQ(one.path, "") << one.name;
    EXPECT_THAT(one.problem, HasSubstr("hidden by TILEWRIGHT_CUDA_HOME=none")) << one.name;
  }
  std::string why;
  EXPECT_EQ(cuda_backend(&why), nullptr);
  EXPECT_EQ(why, "CUDA is hidden by TILEWRIGHT_CUDA_HOME=none; unset it to use a GPU");
}

}  // namespace
}  // namespace tilewright
