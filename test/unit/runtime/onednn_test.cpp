// SPDX-License-Identifier: Apache-2.0
// runtime/onednn_test.cpp — the oneDNN plug-in is opened where it is, and what is wrong with one is
// said once.
#include "runtime/cpu/onednn.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/settings.h"

namespace tilewright {
namespace {

Settings with_plugin(const std::string& path) {
  Settings changed = settings();
  changed.onednn = path;
  return changed;
}

LibraryProduct product_of(float* values, std::int64_t rows) {
  LibraryProduct product{.m = rows, .n = 2, .k = 1};
  product.a = {values, 1, 1, 0};
  product.b = {values, 2, 1, 0};
  product.out = values;
  return product;
}

// Not where tests run without what was built beside them.
bool has_fake_plugins() {
  return std::filesystem::exists(TW_FAKE_ONEDNN) && std::filesystem::exists(TW_FAKE_ONEDNN_OLD);
}

TEST(OnednnPlugin, TakesWhatItTakes) {
  if (!has_fake_plugins()) GTEST_SKIP() << "needs " << TW_FAKE_ONEDNN;
  const SettingsOverride plugged(with_plugin(TW_FAKE_ONEDNN));
  float values[4] = {1, 2, 3, 4};
  EXPECT_EQ(onednn_name(), "oneDNN 0.0.0");
  EXPECT_FALSE(onednn_multiply(product_of(values, 2)));
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(onednn_multiply(product_of(values, 1)));
  EXPECT_EQ(values[0], 42);
  const Stream stream = Stream::default_of(Device::cpu());
  EXPECT_TRUE(library_multiply(product_of(values, 1), stream));
  Settings changed = settings();
  changed.use_libraries = false;
  const SettingsOverride without(changed);
  EXPECT_FALSE(library_multiply(product_of(values, 1), stream));
  EXPECT_EQ(product_library(Device::cpu()), "");
}

TEST(OnednnPlugin, OfAnotherVersionOrNoneIsNoError) {
  if (!has_fake_plugins()) GTEST_SKIP() << "needs " << TW_FAKE_ONEDNN;
  float values[4] = {};
  {
    const SettingsOverride none(with_plugin("none"));
    EXPECT_FALSE(onednn_multiply(product_of(values, 1)));
    EXPECT_EQ(onednn_name(), "");
  }
  const auto said_of = [&](const std::string& path) {
    const SettingsOverride plugged(with_plugin(path));
    testing::internal::CaptureStderr();
    EXPECT_FALSE(onednn_multiply(product_of(values, 1)));
    EXPECT_FALSE(onednn_multiply(product_of(values, 1)));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said_of(TW_FAKE_ONEDNN_OLD),
            "tilewright: warning: the oneDNN plug-in at " TW_FAKE_ONEDNN_OLD
            " has version 99 of our interface, not 1: products are made by tilewright's own "
            "kernels\n");
  const std::string missing = said_of("/nowhere/plug-in.so");
  EXPECT_TRUE(missing.starts_with(
      "tilewright: warning: the oneDNN plug-in at /nowhere/plug-in.so cannot be opened ("))
      << missing;
  EXPECT_EQ(std::count(missing.begin(), missing.end(), '\n'), 1);
}

}  // namespace
}  // namespace tilewright
