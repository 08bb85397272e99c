// SPDX-License-Identifier: Apache-2.0
// base/process_test.cpp — programs are run without a shell, fed, captured and ended in time.
#include "base/process.h"

#include <chrono>

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Process, ArgumentsAreNotReadByAShell) {
  EXPECT_EQ(run_process({.arguments = {"echo", "$HOME; rm *", "a  b"}}).output,
            "$HOME; rm * a  b\n");
}

TEST(Process, FeedsInputLargerThanAPipe) {
  const std::string input(1 << 20, 'x');
  EXPECT_EQ(run_process({.arguments = {"cat"}, .input = input}).output, input);
}

TEST(Process, ProgramThatDoesNotReadItsInput) {
  EXPECT_EQ(run_process({.arguments = {"true"}, .input = std::string(1 << 20, 'x')}).exit_code, 0);
}

TEST(Process, ReportsExitCode) { EXPECT_EQ(run_process({.arguments = {"false"}}).exit_code, 1); }

TEST(Process, AddsEnvironment) {
  EXPECT_EQ(run_process({.arguments = {"printenv", "TW_X"}, .environment = {"TW_X=7"}}).output,
            "7\n");
}

TEST(Process, EndsWhatTakesTooLong) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({.arguments = {"sleep", "30"}, .timeout_seconds = 0.2});
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Process, MissingProgramIsNamed) {
  try {
    run_process({.arguments = {"no-such-program"}});
    FAIL() << "must throw";
  } catch (const MissingError& error) {
    EXPECT_STREQ(error.what(),
                 "program 'no-such-program' was not found; install it or add its folder to PATH");
  }
}

}  // namespace
}  // namespace tilewright
