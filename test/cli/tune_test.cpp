// SPDX-License-Identifier: Apache-2.0
// cli/tune_test.cpp — `tilewright tune`: the table, the winner that later launches take, lists from
// outside, and wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// SLOW repeats work, so that it is known who wins.
constexpr const char* tune_source = R"(import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"SLOW": 80, "BLOCK": 32}), triton.Config({"SLOW": 0, "BLOCK": 64}),
                          triton.Config({"SLOW": 0, "BLOCK": 3})], key=["n"])
@triton.jit
def work(x, y, n, SLOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = a
    for k in range(SLOW):
        b = tl.exp(tl.sin(b)) - k
    tl.store(y + i, a + 1 + 0 * b, mask=i < n)

@triton.jit
def plain(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0) * n + i, tl.load(x + tl.program_id(0) * n + i, mask=i < n), mask=i < n)

@triton.jit
def sums(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0)))
)";

class Tune : public ::testing::Test {
 protected:
  Tune() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << tune_source;
  }
  std::vector<std::string> arguments(const std::string& kernel,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> all = {
        "tune",           file_ + ":" + kernel, "--device",         "cpu",  "--grid",
        "cdiv(n, BLOCK)", "x=ones:f32[512]",    "y=zeros:f32[512]", "n=512"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  CommandResult tune(const std::string& kernel, std::vector<std::string> more = {}) {
    return tilewright_command(arguments(kernel, std::move(more)));
  }
  std::string list(const std::string& text) {
    const std::string path = folder_.path() + "/list.json";
    std::ofstream(path) << text;
    return path;
  }
  void expect_error(const std::string& kernel, std::vector<std::string> more, int code,
                    const std::string& text) {
    const CommandResult r = tune(kernel, std::move(more));
    EXPECT_EQ(r.exit_code, code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + text + "\n");
  }

  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(Tune, EveryConfigIsInTheTableAndTheFastestWins) {
  const CommandResult r = tune("work");
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(r.error, "");
  EXPECT_THAT(r.output, StartsWith("work on cpu for n=512, x:float32, y:float32\n"));
  EXPECT_THAT(r.output, HasSubstr("SLOW=80, BLOCK=32, num_warps=4, num_stages=3"));
  EXPECT_THAT(r.output, HasSubstr("skipped: " + file_ + ":8:36: "));
  EXPECT_THAT(r.output, HasSubstr("winner: triton.Config({'SLOW': 0, 'BLOCK': 64}, num_warps=4, "
                                  "num_stages=3), kept for later launches ("));
}

TEST_F(Tune, JsonHasTimesAndReasons) {
  const CommandResult r = tune("work", {"--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json out = parse_json(r.output);
  ASSERT_EQ(out["configs"].size(), 3u);
  EXPECT_EQ(out["configs"][0]["constants"]["BLOCK"], 64);
  EXPECT_LT(out["configs"][0]["seconds"].get<double>(), out["configs"][1]["seconds"].get<double>());
  EXPECT_THAT(out["configs"][2]["state"].get<std::string>(), StartsWith("skipped: "));
  EXPECT_EQ(out["winner"]["constants"]["SLOW"], 0);
  EXPECT_EQ(out["interrupted"], false);
}

TEST_F(Tune, ConfigsFromAFileAreWhatLaterLaunchesTake) {
  const std::string path =
      list(R"([{"SLOW": 60, "BLOCK": 16}, {"SLOW": 0, "BLOCK": 128, "num_warps": 8}])");
  // Both commands share a cache, unlike the others here.
  const std::string cache = "TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/shared";
  const auto command = [&](std::vector<std::string> words) {
    std::vector<std::string> all = {"env", cache, "TILEWRIGHT_PRINT_AUTOTUNING=1",
                                    tilewright_path()};
    all.insert(all.end(), words.begin(), words.end());
    return run_process({.arguments = all, .timeout_seconds = 120});
  };
  const ProcessResult tuned = command(arguments("work", {"--configs", path}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.output;
  EXPECT_THAT(tuned.output,
              HasSubstr("winner: triton.Config({'SLOW': 0, 'BLOCK': 128}, num_warps=8"));
  std::vector<std::string> words = arguments("work");
  words[0] = "run";
  const ProcessResult run = command(words);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("best config SLOW=0, BLOCK=128, num_warps=8, num_stages=3 ("));
  EXPECT_THAT(run.output, HasSubstr("stored by an earlier run"));
  EXPECT_THAT(run.output, HasSubstr("grid 4 x 1 x 1"));
}

// A grid that does not depend on BLOCK: the config with the smallest one leaves out half and is
// fast.
TEST_F(Tune, AConfigWithAnotherResultIsNamedAndCannotWin) {
  std::vector<std::string> words = arguments(
      "plain", {"--json", "--configs", list(R"([{"BLOCK": 64}, {"BLOCK": 16}, {"BLOCK": 128}])")});
  words[5] = "8";
  const CommandResult r = tilewright_command(words);
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json out = parse_json(r.output);
  EXPECT_EQ(out["configs"].back()["constants"]["BLOCK"], 16);
  EXPECT_EQ(out["configs"].back()["state"],
            "skipped: its result differs from that of BLOCK=64, num_warps=4, num_stages=3 and 1 "
            "more: 'y' is off by 1.0e+00 of its largest value, 1.0e-04 is allowed");
  EXPECT_NE(out["winner"]["constants"]["BLOCK"], 16);
}

TEST_F(Tune, WhatEveryConfigUsesInItsOwnWayIsNoResult) {
  const CommandResult r = tune("sums", {"--json", "--seconds", "0.01", "--configs",
                                        list(R"([{"BLOCK": 64}, {"BLOCK": 16}, {"BLOCK": 128}])")});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json out = parse_json(r.output);
  EXPECT_EQ(out["notes"],
            Json({"every config leaves something else in 'y', which is taken for scratch memory "
                  "and not compared"}));
  for (const Json& config : out["configs"]) EXPECT_TRUE(config.contains("seconds"));
}

TEST_F(Tune, ConfigsThatMeanTheSameOnACpuAreTimedOnce) {
  const CommandResult r = tune("plain", {"--json", "--seconds", "0.01", "--configs",
                                         list(R"([{"BLOCK": 64}, {"BLOCK": 64, "num_warps": 8},
                              {"BLOCK": 64, "num_stages": 1}])")});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json out = parse_json(r.output);
  EXPECT_TRUE(out["configs"][0].contains("seconds"));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    EXPECT_FALSE(out["configs"][i].contains("seconds"));
    EXPECT_EQ(out["configs"][i]["state"],
              "the same on this device as BLOCK=64, num_warps=4, num_stages=3");
  }
  EXPECT_EQ(out["winner"]["num_warps"], 4);
}

TEST_F(Tune, AKernelWithoutAListGetsProposals) {
  const CommandResult r = tune("plain", {"--json", "--seconds", "0.01"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json out = parse_json(r.output);
  EXPECT_GE(out["configs"].size(), 3u);
  EXPECT_EQ(out["configs"][0]["constants"].size(), 1u);
  std::vector<std::string> words = arguments("rows");
  words[5] = "1";  // the grid does not depend on BLOCK
  const CommandResult fixed = tilewright_command(words);
  EXPECT_EQ(fixed.exit_code, 1);
  EXPECT_EQ(fixed.error,
            "tilewright: no values can be proposed for 'BLOCK' of kernel 'rows', because other "
            "values may give other results; give BLOCK=VALUE, or a list with --configs\n");
}

TEST_F(Tune, WrongLists) {
  expect_error("work", {"--configs", folder_.path() + "/none.json"}, 1,
               "cannot open '" + folder_.path() + "/none.json': No such file or directory");
  const std::string path = list("[]");
  expect_error("work", {"--configs", path}, 1,
               path + ": the list of configs is empty; give at least one");
  list("{\"BLOCK\": 3}");
  expect_error(
      "work", {"--configs", path}, 1,
      path +
          ": this holds no list of configs (it is of JSON's type object); a list looks like "
          "[{\"BLOCK\": 64, \"num_warps\": 4}]");
  list("[{\"BLOCK\": 1e400}]");
  expect_error("work", {"--configs", path}, 1,
               path + ": the number '1e400' is beyond what float64 holds (up to 1.8e308)");
  list("[{\"BLOCK\": 18446744073709551615}]");
  expect_error("work", {"--configs", path}, 1,
               path +
                   ": config 1 sets 'BLOCK' to 18446744073709551615, which has more than 64 "
                   "bits with its sign");
  list("[{\"BLOCK\": 64, \"num_warps\": 4294967300}]");
  expect_error("work", {"--configs", path}, 1,
               "a config of kernel 'work' sets num_warps to 4294967300, which is out of all range");
  list("[\n {\"BLOCK\": 3,}\n]");
  expect_error("work", {"--configs", path}, 1,
               path +
                   ":2:14: this is no JSON; a list of configs looks like [{\"BLOCK\": 64, "
                   "\"num_warps\": 4}]");
  list("[{\"BLOCK\": 32, \"SLOW\": 0}, {\"BLOK\": 3}]");
  expect_error("work", {"--configs", path}, 1,
               path +
                   ": config 2 names 'BLOK', which is neither a parameter of kernel 'work' nor an "
                   "option; did you mean 'BLOCK' or 'SLOW'?");
  list("[{\"num_warps\": 2.5}]");
  expect_error("work", {"--configs", path}, 1,
               path + ": config 1 sets num_warps to 2.5, not to a whole number");
  list("[{\"BLOCK\": [1]}]");
  expect_error("work", {"--configs", path}, 1,
               path + ": config 1 sets 'BLOCK' to [1], which is no constant");
  list("[4]");
  expect_error("work", {"--configs", path}, 1,
               path + ": config 1 must be an object of names and values, not number");
}

TEST_F(Tune, WrongCommandLines) {
  expect_error("work", {"BLOCK=4"}, 1,
               "'BLOCK' is set by the triton.autotune of kernel 'work' and cannot be given at the "
               "launch as well");
  expect_error("work", {"m=4"}, 1,
               "kernel 'work' has no parameter 'm'; there are: x, y, n, SLOW, BLOCK");
  expect_error("work", {"n=4"}, 1, "parameter 'n' of kernel 'work' is given twice");
  const CommandResult all_fail = tune("work", {"--configs", list(R"([{"SLOW": 0, "BLOCK": 3},
      {"SLOW": 0, "BLOCK": 8, "num_warps": 5}])")});
  EXPECT_EQ(all_fail.exit_code, 1);
  EXPECT_EQ(all_fail.output, "");
  EXPECT_THAT(all_fail.error,
              StartsWith("tilewright: none of the 2 configs of kernel 'work' can be "
                         "run on cpu:\n  SLOW=0, BLOCK=3, num_warps=4, "
                         "num_stages=3: "));
  EXPECT_THAT(all_fail.error,
              HasSubstr("num_warps of kernel 'work' must be 1, 2, 4, 8, 16 or 32, not 5"));
}

TEST_F(Tune, TwoProcessesAtOnceTuneOnce) {
  const std::string cache = folder_.path() + "/shared";
  std::vector<std::string> words = arguments("work");
  words[0] = "run";
  std::vector<std::string> all = {"sh",
                                  "-c",
                                  "\"$@\" & \"$@\"; wait",
                                  "sh",
                                  "env",
                                  "TILEWRIGHT_CACHE_DIR=" + cache,
                                  "TILEWRIGHT_PRINT_AUTOTUNING=1",
                                  tilewright_path()};
  all.insert(all.end(), words.begin(), words.end());
  const ProcessResult r = run_process({.arguments = all, .timeout_seconds = 120});
  EXPECT_EQ(r.exit_code, 0) << r.output;
  const auto times = [&](const std::string& text) {
    int count = 0;
    for (std::size_t at = r.output.find(text); at != std::string::npos;
         at = r.output.find(text, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(times("512 of 512 changed"), 2) << r.output;
  EXPECT_EQ(times("tuned in"), 1) << r.output;
  EXPECT_EQ(times("stored by an earlier run"), 1) << r.output;
}

// Ctrl-C while configs are compiled: the shell waits until the command holds the lock of its
// tuning.
TEST_F(Tune, AnInterruptEndsItAndSaysWhatIsKept) {
  const std::string cache = folder_.path() + "/shared";
  std::vector<std::string> all = {
      "sh",
      "-c",
      "cache=$1; shift; \"$@\" & child=$!; i=0; "
      "while ! ls \"$cache\"/tmp/*.lock >/dev/null 2>&1 && [ $i -lt 1000 ]; do "
      "i=$((i+1)); sleep 0.02; done; kill -INT $child; wait $child",
      "sh",
      cache,
      "env",
      "TILEWRIGHT_CACHE_DIR=" + cache,
      tilewright_path()};
  const std::vector<std::string> words = arguments("work");
  all.insert(all.end(), words.begin(), words.end());
  const ProcessResult r = run_process({.arguments = all, .timeout_seconds = 120});
  EXPECT_EQ(r.exit_code, 130) << r.output;
  EXPECT_THAT(r.output,
              HasSubstr("tilewright: interrupted; what was measured is kept, and the same "
                        "command goes on from there\n"));
  EXPECT_THAT(r.output, Not(HasSubstr("winner")));
}

}  // namespace
}  // namespace tilewright::cli
