// SPDX-License-Identifier: Apache-2.0
// cli/profile_test.cpp — `tilewright profile`: a program's table and files, its exit code, wrong
// input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* profile_source = R"(import triton
import triton.language as tl

@triton.jit
def twice(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)
)";

class ProfileVerb : public ::testing::Test {
 protected:
  ProfileVerb() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << profile_source;
  }
  // This command itself is the program that is profiled.
  CommandResult profile(std::vector<std::string> options) {
    options.insert(options.begin(), "profile");
    options.insert(options.end(), {"--", tilewright_path(), "run", file_ + ":twice", "--device",
                                   "cpu", "--grid", "1", "x=ones:f32[64]", "BLOCK=64"});
    return tilewright_command(options);
  }
  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(ProfileVerb, PrintsLaunchesAndCompilePhasesAndWritesFiles) {
  const std::string trace = folder_.path() + "/t.json", flame = folder_.path() + "/f.svg";
  const CommandResult r = profile({"--json", "--trace", trace, "--flame", flame});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.error, testing::HasSubstr("twice on cpu"));  // the program's own output
  const auto json = parse_json(r.output);
  std::vector<std::string> names;
  for (const auto& row : json.at("rows")) names.push_back(row.at("name"));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"twice", "front end", "passes", "emitter"}));
  EXPECT_TRUE(Json::accept(std::ifstream(trace)));
  EXPECT_TRUE(std::filesystem::exists(flame));
}

Json read_json(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return parse_json(text.str());
}

// What Perfetto and chrome://tracing read: the fields of every kind of event, lanes with names,
// arrows with two ends.
void expect_valid(const Json& trace) {
  std::set<std::pair<int, long>> lanes, named;
  std::map<long, std::string> arrows;
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE(event.at("name").is_string()) << event;
    const std::pair<int, long> lane = {event.at("pid").get<int>(), event.value("tid", -1L)};
    if (phase == "M") {
      if (event.at("name") == "thread_name") named.insert(lane);
      ASSERT_TRUE(event.at("args").at("name").is_string()) << event;
      continue;
    }
    ASSERT_GE(event.at("ts").get<double>(), 0) << event;
    if (phase == "X") {
      ASSERT_GE(event.at("dur").get<double>(), 0) << event;
      lanes.insert(lane);
    } else if (phase == "C") {
      ASSERT_TRUE(event.at("args").at("bytes").is_number()) << event;
    } else {
      ASSERT_TRUE(phase == "s" || phase == "f") << event;
      arrows[event.at("id").get<long>()] += phase;
    }
  }
  EXPECT_EQ(lanes, named);
  for (const auto& [id, ends] : arrows) EXPECT_TRUE(ends == "sf" || ends == "fs") << id;
}

TEST_F(ProfileVerb, TracesAreOfTheFormatWithMemoryOverTime) {
  const std::string path = folder_.path() + "/t.json";
  ASSERT_EQ(profile({"--trace", path}).exit_code, 0);
  const Json trace = read_json(path);
  expect_valid(trace);
  int counters = 0;
  for (const Json& event : trace.at("traceEvents")) counters += event.at("ph") == "C";
  EXPECT_GT(counters, 0);
}

TEST_F(ProfileVerb, LimitsSortsAndGroupsRows) {
  const auto rows_of = [&](const std::vector<std::string>& options) {
    const CommandResult r = profile(options);
    EXPECT_EQ(r.exit_code, 0) << r.error;
    return parse_json(r.output).at("rows");
  };
  const Json by_name = rows_of({"--json", "--sort-by", "name", "--row-limit", "3"});
  ASSERT_EQ(by_name.size(), 3U);
  EXPECT_LE(by_name[0].at("name").get<std::string>(), by_name[1].at("name").get<std::string>());
  bool is_nested = false;
  for (const Json& row : rows_of({"--json", "--by-stack", "--row-limit", "0"}))
    is_nested |= row.at("name").get<std::string>().find(" > ") != std::string::npos;
  EXPECT_TRUE(is_nested);
}

TEST_F(ProfileVerb, KeepsTheTraceOfAProgramThatCrashes) {
  const std::string trace = folder_.path() + "/t.json";
  const std::string line = "'" + tilewright_path() + "' run " + file_ +
                           ":twice --device cpu --grid 1 x=ones:f32[64] BLOCK=64; kill -SEGV $$";
  const CommandResult r = tilewright_command({"profile", "--trace", trace, "--", "sh", "-c", line});
  EXPECT_EQ(r.exit_code, 128 + 11);
  EXPECT_THAT(r.output, HasSubstr("twice"));
  EXPECT_THAT(r.error, HasSubstr("tilewright: 'sh' ended with exit code 139\n"));
  expect_valid(read_json(trace));
}

// The least that a tool does: it takes push and pop and writes what it is told.
constexpr const char* tool = R"(#include <cstdio>
using F = void (*)();
struct Callbacks { unsigned long size; int (*functions_of)(int, F***, unsigned*); };
static int push(const char* name) { std::fprintf(stderr, "push %s\n", name); return 0; }
static int pop() { std::fprintf(stderr, "pop\n"); return 0; }
extern "C" int InitializeInjectionNvtx2(const void* (*table)(unsigned)) {
  F** functions = nullptr;
  unsigned size = 0;
  if (!((const Callbacks*)table(1))->functions_of(1, &functions, &size) || size < 12) return 0;
  *functions[9] = (F)push;
  *functions[11] = (F)pop;
  return 1;
}
)";

TEST_F(ProfileVerb, ToolsOfNvidiaSeeLaunchesByName) {
  const std::string text = folder_.path() + "/tool.cpp", library = folder_.path() + "/tool.so";
  std::ofstream(text) << tool;
  const ProcessResult made =
      run_process({.arguments = {"g++", "-shared", "-fPIC", "-o", library, text}});
  if (made.exit_code != 0) GTEST_SKIP() << made.output;
  const CommandResult r = tilewright_command(
      {"run", file_ + ":twice", "--device", "cpu", "--grid", "1", "x=ones:f32[64]", "BLOCK=64"},
      {"NVTX_INJECTION64_PATH=" + library});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.error, "push twice (k.py)\npush twice (twice.cpp)\npop\npop\n");
}

TEST_F(ProfileVerb, PassesTheExitCodeOn) {
  const CommandResult r = tilewright_command({"profile", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.error,
            "tilewright: 'sh' did nothing that is recorded: it neither used this library nor "
            "CUDA\ntilewright: 'sh' ended with exit code 3\n");
}

TEST_F(ProfileVerb, SaysWhatIsWrongBeforeTheProgramRuns) {
  const auto expect = [&](const std::vector<std::string>& arguments, int code,
                          const std::string& text) {
    const CommandResult r = tilewright_command(arguments);
    EXPECT_EQ(r.exit_code, code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + text + "\n");
  };
  expect({"profile"}, 2, "COMMAND is required (see tilewright profile --help)");
  expect({"profile", "--", "no-such-program"}, 1,
         "program 'no-such-program' was not found; install it or add its folder to PATH");
  expect({"profile", "--sort-by", "hots", "--", "true"}, 1,
         "profiles cannot be sorted by 'hots'; did you mean 'host'?");
  expect({"profile", "--row-limit", "-1", "--", "true"}, 2,
         "--row-limit: '-1' is no number of rows (see tilewright profile --help)");
  expect({"profile", "--trace", "/nonexistent/t.json", "--", "true"}, 1,
         "cannot write '/nonexistent/t.json': No such file or directory");
}

// A signal to the command alone, not from the keyboard, which reaches both.
TEST(Profile, AnInterruptEndsTheProgram) {
  const ProcessResult r =
      run_process({.arguments = {"timeout", "--foreground", "--preserve-status", "-s", "INT", "1",
                                 tilewright_path(), "profile", "--", "sleep", "50"},
                   .timeout_seconds = 30});
  EXPECT_FALSE(r.timed_out);
  EXPECT_EQ(r.exit_code, 130) << r.output;
}

}  // namespace
}  // namespace tilewright::cli
