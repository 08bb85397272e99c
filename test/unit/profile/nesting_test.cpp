// SPDX-License-Identifier: Apache-2.0
// profile/nesting_test.cpp — own and nested times, device work under its call, rows and their
// order.
#include "profile/nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/error.h"
#include "tilewright/profile.h"
#include "traces.h"

namespace tilewright {
namespace {

// A step of 100 us with a forward pass that launches two kernels, and another thread beside it.
Made step() {
  Made made;
  made.host(TraceKind::Range, "step", 0, 100);
  made.host(TraceKind::Range, "forward", 10, 60);
  made.call("cuLaunchKernel", 20, 25, 1);
  made.call("cuLaunchKernel", 30, 40, 2);
  made.kernel("gelu", 26, 50, 1);
  made.kernel("softmax", 50, 120, 2);
  made.host(TraceKind::Compile, "passes", 5, 95, 2);
  made.trace.finish();
  return made;
}

const ProfileRow& row(const std::vector<ProfileRow>& rows, const std::string& name) {
  for (const ProfileRow& candidate : rows)
    if (candidate.name == name) return candidate;
  throw std::runtime_error("no row " + name);
}

TEST(Nesting, OwnTimeIsWithoutWhatIsInside) {
  const Profile profile(std::make_shared<Trace>(step().trace));
  const auto rows = profile.rows();
  EXPECT_NEAR(row(rows, "step").self_host_seconds, 50e-6, 1e-12);
  EXPECT_NEAR(row(rows, "step").host_seconds, 100e-6, 1e-12);
  EXPECT_NEAR(row(rows, "forward").self_host_seconds, 35e-6, 1e-12);
  EXPECT_NEAR(row(rows, "cuLaunchKernel").self_host_seconds, 15e-6, 1e-12);
  EXPECT_EQ(row(rows, "cuLaunchKernel").calls, 2);
  // Other threads do not nest.
  EXPECT_NEAR(row(rows, "passes").self_host_seconds, 90e-6, 1e-12);
}

TEST(Nesting, DeviceWorkCountsForAllAroundItsCall) {
  const Profile profile(std::make_shared<Trace>(step().trace));
  const auto rows = profile.rows();
  EXPECT_NEAR(row(rows, "gelu").self_device_seconds, 24e-6, 1e-12);
  EXPECT_NEAR(row(rows, "softmax").self_device_seconds, 70e-6, 1e-12);
  for (const char* name : {"step", "forward", "cuLaunchKernel"})
    EXPECT_NEAR(row(rows, name).device_seconds, 94e-6, 1e-12) << name;
  EXPECT_EQ(row(rows, "passes").device_seconds, 0);
  EXPECT_EQ(row(rows, "step").self_device_seconds, 0);
  EXPECT_EQ(row(rows, "gelu").shapes, "<<<1000 1 1, 128 1 1>>>");
}

TEST(Nesting, StacksGoFromTheOutsideIn) {
  const Profile profile(std::make_shared<Trace>(step().trace));
  const auto rows = profile.rows({.group_by_stack = true});
  EXPECT_NEAR(row(rows, "step > forward > cuLaunchKernel > softmax").self_device_seconds, 70e-6,
              1e-12);
}

TEST(Rows, SortByDeviceTimeByDefaultAndAsAsked) {
  const Profile profile(std::make_shared<Trace>(step().trace));
  EXPECT_EQ(profile.rows().front().name, "softmax");
  EXPECT_EQ(profile.rows({.sort_by = "self_host"}).front().name, "passes");
  EXPECT_EQ(profile.rows({.sort_by = "calls"}).front().name, "cuLaunchKernel");
  EXPECT_EQ(profile.rows({.sort_by = "name"}).front().name, "cuLaunchKernel");
  try {
    profile.rows({.sort_by = "hots"});
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(), "profiles cannot be sorted by 'hots'; did you mean 'host'?");
  }
}

TEST(Rows, TableHasALimitAndCutsNames) {
  const Profile profile(std::make_shared<Trace>(step().trace));
  const std::string table = profile.table({.row_limit = 2, .name_width = 6});
  EXPECT_THAT(table, ::testing::HasSubstr("sof..."));
  EXPECT_THAT(table, ::testing::HasSubstr("... and 4 more rows"));
  EXPECT_THAT(table, ::testing::HasSubstr("74.5%"));  // of the device's 94 us
}

TEST(Rows, AnEmptyProfileHasATable) { EXPECT_EQ(Profile().rows().size(), 0u); }

}  // namespace
}  // namespace tilewright
