// SPDX-License-Identifier: Apache-2.0
// cli/usage_test.cpp — help, version and wrong command lines: exit codes and sentences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_usage_error(const std::vector<std::string>& arguments, const std::string& error) {
  const CommandResult r = tilewright_command(arguments);
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.output, "");
  EXPECT_EQ(r.error, error + "\n");
}

TEST(Usage, Version) {
  const CommandResult r = tilewright_command({"--version"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.output, "tilewright " TILEWRIGHT_VERSION "\n");
  EXPECT_EQ(r.error, "");
}

TEST(Usage, HelpNamesEveryVerb) {
  const CommandResult r = tilewright_command({"--help"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.output, HasSubstr("info"));
  EXPECT_THAT(r.output, HasSubstr("cache"));
  EXPECT_THAT(r.output, HasSubstr("opt"));
  EXPECT_EQ(r.error, "");
}

TEST(Usage, EveryVerbHasHelpWithExamples) {
  for (const std::string verb : {"run", "compile", "info", "cache", "opt"}) {
    const CommandResult r = tilewright_command({verb, "--help"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.output, HasSubstr("Examples:\n  tilewright " + verb));
    EXPECT_THAT(r.output, HasSubstr("\nUsage: tilewright " + verb + " [OPTIONS]"));
    EXPECT_EQ(r.error, "");
  }
}

TEST(Usage, HelpOfAnInnerVerb) {
  const CommandResult r = tilewright_command({"cache", "clear", "--help"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.output, StartsWith("Remove every entry"));
}

TEST(Usage, NoVerb) {
  expect_usage_error(
      {},
      "tilewright: tilewright needs a verb: bench, run, check, step, compile, tune, profile, "
      "info, cache, opt, completion (see "
      "tilewright --help)");
  expect_usage_error({"cache"},
                     "tilewright: tilewright cache needs a verb: info, verify, clear (see "
                     "tilewright cache --help)");
}

TEST(Usage, UnknownVerbSuggestsTheNearest) {
  expect_usage_error(
      {"inof"},
      "tilewright: tilewright has no verb 'inof'; did you mean 'info'? (see tilewright --help)");
  expect_usage_error({"cache", "claer"},
                     "tilewright: tilewright cache has no verb 'claer'; did you mean 'clear'? (see "
                     "tilewright cache --help)");
  expect_usage_error({"frobnicate", "--json"},
                     "tilewright: tilewright has no verb 'frobnicate'; there are: bench, run, "
                     "check, step, compile, tune, "
                     "profile, info, cache, opt, completion (see tilewright --help)");
  expect_usage_error(
      {"inof", "--help"},
      "tilewright: tilewright has no verb 'inof'; did you mean 'info'? (see tilewright --help)");
}

TEST(Usage, UnknownOptionSuggestsTheNearest) {
  expect_usage_error({"info", "--jsn"},
                     "tilewright: tilewright info has no option '--jsn'; did you mean '--json'? "
                     "(see tilewright info --help)");
}

TEST(Usage, TooManyArguments) {
  expect_usage_error({"cache", "info", "more"},
                     "tilewright: tilewright cache info takes no argument 'more' (see tilewright "
                     "cache info --help)");
}

TEST(Usage, OptionsThatNeedAnother) {
  const CommandResult r = tilewright_command({"info", "--threads", "256"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.error, HasSubstr("--occupancy"));
}

TEST(Usage, ValueThatIsNoNumber) {
  const CommandResult r = tilewright_command({"info", "--occupancy", "--threads", "many"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.error, HasSubstr("many"));
  EXPECT_THAT(r.error, HasSubstr("--threads"));
}

TEST(Usage, ResultThatCannotBeWritten) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "this system has no /dev/full";
  const ProcessResult r = run_process(
      {.arguments = {"sh", "-c", "exec \"$1\" --help > /dev/full", "sh", tilewright_path()}});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.output, "tilewright: the result could not be written to the standard output\n");
}

}  // namespace
}  // namespace tilewright::cli
