// SPDX-License-Identifier: Apache-2.0
// profile/trace_file_test.cpp — what was appended comes back, also from a file that was cut off.
#include "profile/trace_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/error.h"
#include "traces.h"

namespace tilewright {
namespace {

class TraceFiles : public ::testing::Test {
 protected:
  TraceFiles()
      : path_(::testing::TempDir() + "trace_file_" + std::to_string(getpid()) + ".trace") {}
  ~TraceFiles() override { std::filesystem::remove(path_); }
  void write() {
    TraceFile file(path_);
    Made first;
    first.host(TraceKind::Range, "a", 0, 10);
    file.append(first.trace);
    Made second;
    second.kernel("b", 3, 4, 1);
    second.host(TraceKind::Range, "a", 1, 2);
    second.trace.devices.push_back({0, 132, "H200", "sm_90a"});
    second.trace.notes.push_back("a note");
    file.append(second.trace);
  }
  std::string path_;
};

TEST_F(TraceFiles, ComeBackAsTheyWere) {
  write();
  const Trace trace = read_trace_file(path_);
  ASSERT_EQ(trace.events.size(), 3u);
  EXPECT_EQ(trace.name(trace.events[0]), "a");
  EXPECT_EQ(trace.name(trace.events[1]), "a");
  EXPECT_EQ(trace.name(trace.events[2]), "b");
  EXPECT_EQ(trace.events[2].grid[0], 1000u);
  EXPECT_EQ(trace.find_device(0)->processors, 132);
  EXPECT_THAT(trace.notes, ::testing::ElementsAre("a note"));
}

TEST_F(TraceFiles, CutOffAnywhereGiveWhatIsWhole) {
  write();
  const auto size = std::filesystem::file_size(path_);
  for (auto bytes = size - 1; bytes >= 8; bytes -= 7) {
    std::filesystem::resize_file(path_, bytes);
    EXPECT_LE(read_trace_file(path_).events.size(), 3u);
    if (bytes < 15) break;
  }
  std::filesystem::resize_file(path_, 4);
  EXPECT_THROW(read_trace_file(path_), EnvironmentError);
}

TEST_F(TraceFiles, SayWhyTheyCannotBeWritten) {
  EXPECT_THROW(TraceFile("/nonexistent/x.trace"), EnvironmentError);
  EXPECT_THROW(read_trace_file("/nonexistent/x.trace"), EnvironmentError);
}

}  // namespace
}  // namespace tilewright
