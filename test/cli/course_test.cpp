// SPDX-License-Identifier: Apache-2.0
// cli/course_test.cpp — every command of docs/course.md and docs/tour.md runs, and its output has
// the lines' first words that the document shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

struct Experiment {
  std::vector<std::string> arguments;
  std::vector<std::string> expected;  // first words of the output's lines
};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    else if (c != ' ' || is_quoted) word += c;
    else if (!word.empty()) words.push_back(std::exchange(word, ""));
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// Blocks of "console": a line "$ tilewright ...", then what it printed, "..." for what is left out.
std::vector<Experiment> experiments(const char* document) {
  std::ifstream file(std::string(TW_SOURCE_FOLDER) + "/docs/" + document);
  std::vector<Experiment> found;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      is_inside = line == "```console";
    } else if (is_inside && line.starts_with("$ tilewright ")) {
      found.push_back({words_of(line.substr(13)), {}});
    } else if (is_inside && !found.empty()) {
      const std::vector<std::string> words = words_of(line);
      if (!words.empty() && words[0] != "...") found.back().expected.push_back(words[0]);
    }
  }
  return found;
}

// Times differ from machine to machine and are not looked at, so they need not be good.
std::vector<std::string> made_quick(std::vector<std::string> arguments) {
  if (arguments[0] != "bench") return arguments;
  const auto has = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  if (!has("--dim")) arguments.insert(arguments.end(), {"--dim", "128"});
  if (!has("--trials")) arguments.insert(arguments.end(), {"--warmup", "0", "--trials", "2"});
  arguments.insert(arguments.end(), {"--device", "cpu"});
  // Only an explanation says something of ceilings that the test looks at.
  if (!has("--explain")) arguments.emplace_back("--no-ceiling");
  return arguments;
}

void run_all(const char* document, std::size_t at_least) {
  const TemporaryFolder folder;
  const std::vector<Experiment> all = experiments(document);
  ASSERT_GE(all.size(), at_least);
  for (const Experiment& experiment : all) {
    std::string line;
    for (const std::string& word : experiment.arguments) line += word + " ";
    SCOPED_TRACE(line);
    std::vector<std::string> arguments = made_quick(experiment.arguments);
    for (std::string& word : arguments) {
      if (word.starts_with("examples/") || word.starts_with("src/"))
        word = std::string(TW_SOURCE_FOLDER) + "/" + word;
      if (word == "trace.json" || word == "flame.svg" || word == "report.html")
        word = folder.path() + "/" + word;
    }
    const CommandResult r = tilewright_command(arguments);
    if (r.error.find("NVRTC") != std::string::npos) continue;  // compiling for a GPU needs it
    EXPECT_EQ(r.exit_code, 0) << r.error;
    // The first line names the machine, which is another one.
    for (std::size_t i = 1; i < experiment.expected.size(); ++i)
      EXPECT_THAT(r.output, HasSubstr(experiment.expected[i]));
  }
}

TEST(Course, EveryExperimentRuns) { run_all("course.md", 13); }
TEST(Tour, EveryCommandRuns) { run_all("tour.md", 3); }

}  // namespace
}  // namespace tilewright::cli
