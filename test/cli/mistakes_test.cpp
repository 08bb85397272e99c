// SPDX-License-Identifier: Apache-2.0
// cli/mistakes_test.cpp — what people type by mistake: one sentence with the remedy, nothing else.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace tilewright::cli {
namespace {

class Mistakes : public ::testing::Test {
 protected:
  Mistakes() {
    std::ofstream(file_) << R"(import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def far(p, n):
    tl.store(p + n.to(tl.int64) * 1048576, 1.0)
)";
  }

  static void expect_mistake(const std::vector<std::string>& arguments, int code,
                             const std::string& error,
                             const std::vector<std::string>& environment = {}) {
    const CommandResult r = tilewright_command(arguments, environment);
    EXPECT_EQ(r.exit_code, code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + error + "\n");
  }

  const TemporaryFolder folder_;
  const std::string file_ = folder_.path() + "/kernels.py";
  const std::string scale_ = file_ + ":scale";
};

TEST_F(Mistakes, LongOptionsAreSuggestedByTheirLongNames) {
  expect_mistake({"--hlep"}, 2,
                 "tilewright has no option '--hlep'; did you mean '--help'? (see tilewright "
                 "--help)");
}

TEST_F(Mistakes, EmptyValues) {
  expect_mistake({"bench", "gelu", "--dim", ""}, 2,
                 "the value of --dim is empty (see tilewright bench --help)");
  expect_mistake({"profile", "--trace", "", "--", "true"}, 2,
                 "the value of --trace is empty (see tilewright profile --help)");
  expect_mistake({"bench", "gelu", "--shape", "3x"}, 1, "'3x' is no shape; write 8192x781");
}

TEST_F(Mistakes, Folders) {
  expect_mistake({"run", folder_.path()}, 2,
                 "'" + folder_.path() +
                     "' is a folder; --guess runs every kernel in it, FILE.py:KERNEL names one");
  expect_mistake(
      {"compile", folder_.path()}, 2,
      "'" + folder_.path() +
          "' is a folder; --guess compiles every kernel in it, FILE.py:KERNEL names one");
  const std::string folder = folder_.path() + "/folder.py";
  std::filesystem::create_directory(folder);
  expect_mistake({"run", folder + ":k"}, 1, "cannot open '" + folder + "': Is a directory");
}

TEST_F(Mistakes, ToleranceThatNothingIsBeyond) {
  expect_mistake({"run", scale_, "--tolerance", "nan"}, 2,
                 "--tolerance: a tolerance is a number from 0 to 1e6, not 'nan' (see tilewright "
                 "run --help)");
}

TEST_F(Mistakes, ValuesThatAreNoNumbers) {
  expect_mistake({"run", scale_, "x_ptr=randn:f32[n]", "n=1e400", "--grid", "1"}, 1,
                 "x_ptr=randn:f32[n]: 'n' is 1e400, which is no whole number of 15 digits or "
                 "fewer; write n=1000");
  expect_mistake({"run", scale_, "x_ptr=full:f32[8]=abc", "n=8", "--grid", "1"}, 1,
                 "x_ptr=full:f32[8]=abc: 'abc' is no number; write full:f32[8]=0.5");
}

TEST_F(Mistakes, OperationsOfBench) {
  expect_mistake({"bench", "foo"}, 1,
                 "there is no operation 'foo'; there are: add, attention, cross_entropy, dropout, "
                 "gelu, layernorm, matmul, rmsnorm, softmax, mlp, compile");
}

TEST_F(Mistakes, GuessingWhatAFileSays) {
  expect_mistake({"compile", "k.cu", "--guess"}, 2,
                 "'k.cu' says the types of its kernels itself, so that nothing is guessed; write "
                 "FILE.cu:KERNEL without --guess");
}

// The files that are opened next take the numbers of closed streams.
TEST_F(Mistakes, ClosedAndFullStreams) {
  const auto code = [&](const std::string& redirections) {
    return run_process({.arguments = {"sh", "-c", "exec \"$1\" run \"$2\" " + redirections, "sh",
                                      tilewright_path(), folder_.path() + "/none.py:k"},
                        .timeout_seconds = 60})
        .exit_code;
  };
  for (const char* redirections : {"2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"})
    EXPECT_EQ(code(redirections), 1) << redirections;
  const ProcessResult r =
      run_process({.arguments = {"sh", "-c",
                                 "\"$1\" bench --list >/dev/full; echo $?; printf 'quit\\n' | "
                                 "\"$1\" step \"$2\" --grid 1 x_ptr=ones:f32[8] "
                                 "out_ptr=empty:f32[8] n=8 BLOCK=8 >/dev/full; echo $?",
                                 "sh", tilewright_path(), scale_},
                   .timeout_seconds = 60});
  const std::string sentence = "tilewright: the result could not be written to the standard output";
  EXPECT_EQ(r.output, sentence + "\n1\n" + sentence + "\n1\n");
}

TEST_F(Mistakes, NumbersOutOfRange) {
  expect_mistake({"bench", "gelu", "--trials", "99999999999"}, 2,
                 "--trials takes a number, and '99999999999' is none or too large (see tilewright "
                 "bench --help)");
  expect_mistake({"run", scale_, "--seed", "-1"}, 2,
                 "--seed: a seed is a whole number from 0 to 2^64 - 1, not '-1' (see tilewright "
                 "run --help)");
  expect_mistake({"tune", scale_, "--seconds", "0"}, 2,
                 "--seconds: seconds are above 0, not '0' (see tilewright tune --help)");
  expect_mistake({"compile", file_, "--guess", "--limit", "-1"}, 2,
                 "--limit: seconds are above 0, not '-1' (see tilewright compile --help)");
  expect_mistake({"bench", "gelu", "--baseline", "x.json", "--threshold", "-3"}, 2,
                 "--threshold is 0 percent or more, not -3");
  const CommandResult r = tilewright_command({"profile", "--row-limit", "-1", "--", "true"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.error, testing::StartsWith("tilewright: --row-limit: "));
}

TEST_F(Mistakes, FoldersInsteadOfFiles) {
  expect_mistake({"bench", "gelu", "--baseline", "/"}, 1, "cannot open '/': Is a directory");
  expect_mistake({"opt", "/"}, 1, "cannot open '/': Is a directory");
  expect_mistake({"compile", "none.cu:k"}, 1, "cannot open 'none.cu': No such file or directory");
}

TEST_F(Mistakes, FoldersWithoutKernels) {
  const TemporaryFolder folder;
  for (const char* verb : {"compile", "run"})
    expect_mistake({verb, folder.path(), "--guess"}, 1,
                   "there is no Triton kernel in '" + folder.path() + "'");
}

TEST_F(Mistakes, WhatIsMissing) {
  expect_mistake({"compile", scale_}, 2,
                 "the types of scale are not known; give them with --signature \"*fp32:16, "
                 "i32, 1024\", an item for each of x_ptr, out_ptr, n, BLOCK, or use --guess");
  expect_mistake({"run", scale_, "n=4"}, 1,
                 file_ + " does not launch 'scale', so its grid must be given (--grid)");
}

TEST_F(Mistakes, OptionsOfOtherThings) {
  expect_mistake(
      {"compile", scale_, "--signature", "*fp32, *fp32, i32, 64", "--block", "256"}, 2,
      "--block is for .cu files; a Triton kernel has --num-warps, and " + file_ + " is one");
  expect_mistake({"profile", "gelu", "--dim", "64"}, 2,
                 "tilewright profile has no option '--dim'; what is for the program goes behind "
                 "--, as in tilewright profile -- gelu --dim 1024 (see tilewright profile "
                 "--help)");
  expect_mistake({"profile", "gleu"}, 1,
                 "there is neither a program nor an operation 'gleu'; did you mean 'gelu'?");
}

TEST_F(Mistakes, AFloatWhereAnIntegerIsNeeded) {
  const CommandResult r =
      tilewright_command({"run", scale_, "--grid", "1", "x_ptr=zeros:f32[8]",
                          "out_ptr=zeros:f32[8]", "n=8", "BLOCK=8.0", "--device", "interpret"});
  EXPECT_THAT(r.error, testing::HasSubstr("must be a constant integer, not the constant 8.0"));
}

TEST_F(Mistakes, EnvironmentVariables) {
  expect_mistake({"info", "--no-measure"}, 1,
                 "TILEWRIGHT_INTERPRET='maybe' is neither on nor off; unset it or give one of them",
                 {"TILEWRIGHT_INTERPRET=maybe"});
  expect_mistake(
      {"info", "--no-measure"}, 1,
      "TILEWRIGHT_LOG has no topic 'foo'; there are: compile, cache, launch, guess, graph, "
      "fusion, recompiles, output_code, libraries, all",
      {"TILEWRIGHT_LOG=cache,foo"});
}

TEST_F(Mistakes, OutputsThatCannotBeMade) {
  expect_mistake({"compile", scale_, "--signature", "*fp32, *fp32, i32, 64", "--target", "cpu",
                  "--emit", "ir", "-o", "/dev/null/x"},
                 1, "the folder '/dev/null/x' cannot be made: Not a directory");
}

// A store far outside ends the process; the sentence says how to find it.
TEST_F(Mistakes, ACrashOfAKernelNamesTheInterpreter) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take the signal";
#else
  const std::vector<std::string> command = {
      "run", file_ + ":far", "--grid", "1", "p=zeros:f32[8]", "n=2000000000", "--device"};
  std::vector<std::string> on_cpu = command;
  on_cpu.emplace_back("cpu");
  const CommandResult r = tilewright_command(on_cpu);
  EXPECT_EQ(r.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(r.error,
            "tilewright: kernel 'far' crashed, most likely by an access outside of its memory; "
            "tilewright run --device interpret names its line and element\n");
  std::vector<std::string> interpreted = command;
  interpreted.emplace_back("interpret");
  EXPECT_THAT(tilewright_command(interpreted).error,
              testing::HasSubstr("kernels.py:13:5: kernel 'far': store writes index "));
#endif
}

}  // namespace
}  // namespace tilewright::cli
