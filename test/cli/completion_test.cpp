// SPDX-License-Identifier: Apache-2.0
// cli/completion_test.cpp — completions and the manual page say what --help says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* verbs[] = {"bench", "run",   "compile", "tune",      "profile",
                                 "info",  "cache", "opt",     "completion"};

std::string written(const std::string& form) {
  const CommandResult r = tilewright_command({"completion", form});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(r.error, "");
  return r.output;
}

std::vector<std::string> long_options(const std::string& verb) {
  const std::string help = tilewright_command({verb, "--help"}).output;
  std::vector<std::string> names;
  const std::regex option(R"(\n  (?:-[a-zA-Z], ?)?--([a-z0-9-]+))");
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
    names.push_back((*at)[1]);
  EXPECT_FALSE(names.empty()) << verb << help;
  return names;
}

TEST(Completion, EveryVerbAndOptionOfHelpIsInAllForms) {
  const std::string bash = written("bash"), zsh = written("zsh"), fish = written("fish");
  std::string man = written("man");
  for (std::size_t at = 0; (at = man.find("\\-", at)) != std::string::npos;) man.erase(at, 1);
  for (const std::string verb : verbs) {
    EXPECT_THAT(zsh, HasSubstr("    '" + verb + ":"));
    EXPECT_THAT(fish, HasSubstr(" -f -a " + verb + " "));
    EXPECT_THAT(man, HasSubstr(".SS " + verb));
    for (const std::string& option : long_options(verb)) {
      EXPECT_THAT(bash, HasSubstr("--" + option)) << verb;
      EXPECT_THAT(zsh, HasSubstr("'*--" + option + "[")) << verb;
      EXPECT_THAT(fish, HasSubstr("from " + verb + "'")) << verb;
      EXPECT_THAT(fish, HasSubstr(" -l " + option)) << verb;
      EXPECT_THAT(man, HasSubstr("--" + option)) << verb;
    }
  }
}

// What bash offers for the last of these words.
std::string offered(const std::string& script, const std::string& words) {
  const ProcessResult result =
      run_process({.arguments = {"bash", "-c",
                                 script + "\nCOMP_WORDS=(" + words +
                                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tilewright; echo "
                                     "\"${COMPREPLY[*]}\""}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  return result.output;
}

TEST(Completion, BashOffersVerbsOptionsAndInnerVerbs) {
  const std::string script = written("bash");
  EXPECT_EQ(offered(script, "tilewright be"), "bench\n");
  EXPECT_EQ(offered(script, "tilewright run --expe"), "--expect\n");
  EXPECT_EQ(offered(script, "tilewright cache cl"), "clear\n");
  EXPECT_EQ(offered(script, "tilewright bench --expect"), "\n");
}

TEST(Completion, ShellsThatAreInstalledTakeTheirScripts) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/script";
    std::ofstream(path) << written(shell);
    const ProcessResult result = run_process(
        {.arguments = {"sh", "-c",
                       "command -v " + shell + " >/dev/null || exit 0; " + shell + " -n " + path}});
    EXPECT_EQ(result.exit_code, 0) << shell << result.output;
  }
}

TEST(Completion, ManualLinesAreNoRequestsByAccident) {
  std::istringstream lines(written("man"));
  const std::regex request(R"(\.(TH|SH|SS|TP|B|I|PP|nf|fi)( .*)?)");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(".")) EXPECT_TRUE(std::regex_match(line, request)) << line;
    else EXPECT_FALSE(line.starts_with("'")) << line;
}

TEST(Completion, OtherForms) {
  const CommandResult r = tilewright_command({"completion", "tcsh"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: completion is for bash, zsh, fish or man, not for 'tcsh'\n");
}

}  // namespace
}  // namespace tilewright::cli
