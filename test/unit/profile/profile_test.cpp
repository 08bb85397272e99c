// SPDX-License-Identifier: Apache-2.0
// profile/profile_test.cpp — profiles of calls on the CPU, and the files that they write.
#include "tilewright/profile.h"
#include "bench/json.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/events.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"
#include "traces.h"

namespace tilewright {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class OutputFile {
 public:
  explicit OutputFile(const std::string& name)
      : path_(::testing::TempDir() + std::to_string(getpid()) + name) {}
  ~OutputFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Profile, NamesRangesAndTensorWork) {
  const Profile p = profile([] {
    const Range range("outer");
    const Tensor x = randn({64, 64}, {DType::Float32, Device::cpu()});
    x.fill(1.0);
  });
  const auto rows = p.rows();
  EXPECT_THAT(rows, Contains(Field(&ProfileRow::name, "outer")));
  EXPECT_THAT(rows, Contains(Field(&ProfileRow::name, "randn")));
  EXPECT_EQ(p.peak_bytes(), 64 * 64 * 4);
  EXPECT_GT(p.seconds(), 0);
}

TEST(Profile, CollectsFromEveryThread) {
  const Profile p = profile([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int k = 0; k < 100; ++k) const Range range("work");
      });
    for (std::thread& thread : threads) thread.join();
  });
  // What starts a GPU is in the profile as well.
  EXPECT_THAT(p.rows(),
              Contains(AllOf(Field(&ProfileRow::name, "work"), Field(&ProfileRow::calls, 400))));
}

TEST(Profile, OneAtATime) {
  profile([] {
    try {
      profile([] {});
      FAIL();
    } catch (const ArgumentError& error) {
      EXPECT_STREQ(error.what(), "this process is being profiled already; end that profile first");
    }
  });
}

TEST(Profile, EndsWhenTheCallThrows) {
  EXPECT_THROW(profile([] { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_EQ(listening(), nullptr);
  EXPECT_EQ(profile([] { const Range range("again"); }, {.device = false}).rows().size(), 1u);
}

TEST(Profile, NothingIsRecordedOutside) {
  { const Range before("before"); }
  const Profile p = profile([] {}, {.device = false});
  { const Range after("after"); }
  EXPECT_EQ(p.rows().size(), 0u);
}

TEST(ChromeTrace, HasLanesEventsArrowsAndCounters) {
  Made made;
  made.host(TraceKind::Range, "a \"quoted\" name\n", 0, 100);
  made.call("cuLaunchKernel", 10, 20, 5);
  made.kernel("gelu", 30, 40, 5);
  made.host(TraceKind::Memory, "memory", 1, 1).bytes = 100;
  made.host(TraceKind::Memory, "memory", 2, 2).bytes = -40;
  made.trace.devices.push_back({0, 132, "H200"});
  made.trace.finish();
  const OutputFile file("trace.json");
  Profile(std::make_shared<Trace>(made.trace)).chrome_trace(file.path());
  const auto json = parse_json(read(file.path()));
  std::map<std::string, int> phases;
  for (const auto& event : json.at("traceEvents")) {
    ++phases[event.at("ph").get<std::string>()];
    if (event.at("ph") == "X") {
      EXPECT_GE(event.at("dur").get<double>(), 0);
      EXPECT_TRUE(event.contains("ts") && event.contains("pid") && event.contains("tid"));
    }
    if (event.at("name") == "gelu") {
      EXPECT_EQ(event.at("ts"), 30.0);
      EXPECT_EQ(event.at("pid"), 1);
    }
  }
  EXPECT_EQ(phases, (std::map<std::string, int>{{"M", 4}, {"X", 3}, {"s", 1}, {"f", 1}, {"C", 2}}));
}

TEST(ChromeTrace, IsNotHalfWritten) {
  const std::string path = "/nonexistent/trace.json";
  try {
    Profile().chrome_trace(path);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "cannot write '/nonexistent/trace.json': No such file or directory");
  }
}

TEST(FlameGraph, FoldsStacksAndDrawsThem) {
  Made made;
  made.host(TraceKind::Range, "step", 0, 100);
  made.host(TraceKind::Range, "a<b>", 10, 60);
  made.trace.finish();
  const Profile p(std::make_shared<Trace>(made.trace));
  const OutputFile stacks("stacks.txt"), flame("flame.svg");
  p.folded_stacks(stacks.path());
  EXPECT_EQ(read(stacks.path()), "step 50\nstep;a<b> 50\n");
  p.flame_graph(flame.path());
  EXPECT_THAT(read(flame.path()), HasSubstr("<title>a&lt;b&gt;: 50.0 us, 50.0%</title>"));
}

TEST(FlameGraph, NamesNeitherPartNorEndStacks) {
  Made made;
  made.host(TraceKind::Range, "a;b 7\nc", 0, 100);
  made.trace.finish();
  const Profile p(std::make_shared<Trace>(made.trace));
  const OutputFile stacks("stacks.txt");
  p.folded_stacks(stacks.path());
  EXPECT_EQ(read(stacks.path()), "a,b 7\\nc 100\n");
}

TEST(ChromeTrace, IsJsonWhateverTheNames) {
  Made made;
  for (const char* name : {"\xff\xfe", "</script>", "\u2028", "\"\\\x01", "{}%s"})
    made.host(TraceKind::Range, name, 0, 10);
  made.trace.finish();
  const OutputFile file("trace.json");
  Profile(std::make_shared<Trace>(made.trace)).chrome_trace(file.path());
  const auto json = parse_json(read(file.path()));
  std::vector<std::string> names;
  for (const auto& event : json.at("traceEvents"))
    if (event.at("ph") == "X") names.push_back(event.at("name"));
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("\ufffd\ufffd", "</script>", "\u2028",
                                                     "\"\\\x01", "{}%s"));
}

}  // namespace
}  // namespace tilewright
