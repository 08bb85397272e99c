// SPDX-License-Identifier: Apache-2.0
// cli/course_test.cpp — every command of docs/course.md and docs/tour.md runs, and its output has
// what the document shows: text that Tilewright writes to the letter, NVIDIA's compilers' their
// instructions, and of measurements the lines' first words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

struct Experiment {
  std::string command;                // as the document has it, without "$ "
  std::vector<std::string> expected;  // lines of the output
  bool is_shortened = false;
};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    else if ((c != ' ' && c != '\t') || is_quoted) word += c;
    else if (!word.empty()) words.push_back(std::exchange(word, ""));
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// Blocks of "console": a line "$ [NAME=VALUE] tilewright ...", then what it printed, "..." for what
// is left out.
std::vector<Experiment> experiments(const char* document) {
  std::ifstream file(std::string(TW_SOURCE_FOLDER) + "/docs/" + document);
  std::vector<Experiment> found;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      is_inside = line == "```console";
    } else if (is_inside && line.starts_with("$ ")) {
      found.push_back({line.substr(2), {}});
    } else if (is_inside && !found.empty() && line == "...") {
      found.back().is_shortened = true;
    } else if (is_inside && !found.empty() && !line.empty()) {
      found.back().expected.push_back(line);
    }
  }
  return found;
}

bool has(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Times differ from machine to machine and are not looked at, so they need not be good.
std::vector<std::string> made_quick(std::vector<std::string> arguments) {
  if (arguments[0] != "bench") return arguments;
  const bool has_sizes = has(arguments, "--dim") || has(arguments, "compile");
  if (!has_sizes) arguments.insert(arguments.end(), {"--dim", "128"});
  if (!has(arguments, "--trials"))
    arguments.insert(arguments.end(), {"--warmup", "0", "--trials", "2"});
  arguments.insert(arguments.end(), {"--device", "cpu"});
  // Only an explanation says something of ceilings that the test looks at.
  if (!has(arguments, "--explain")) arguments.emplace_back("--no-ceiling");
  return arguments;
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

// The commands between bars, one after the other; "-" is what the one before printed.
CommandResult run_line(const std::string& line, const std::string& folder) {
  const std::size_t bar = line.rfind(" | ");
  const std::string input = folder + "/input";
  if (bar != std::string::npos) {
    const CommandResult before = run_line(line.substr(0, bar), folder);
    if (before.exit_code != 0) return before;
    std::ofstream(input) << before.output;
  }
  std::vector<std::string> words = words_of(bar == std::string::npos ? line : line.substr(bar + 3));
  const auto program = std::find(words.begin(), words.end(), "tilewright");
  if (program == words.end()) return {1, "", "not a command of tilewright"};
  const std::vector<std::string> environment(words.begin(), program);
  std::vector<std::string> arguments = made_quick({program + 1, words.end()});
  const std::string root = std::string(TW_SOURCE_FOLDER) + "/";
  for (std::string& word : arguments) {
    if (word.starts_with("examples/") || word.starts_with("src/")) word = root + word;
    if (word == "trace.json" || word == "flame.svg" || word == "report.html")
      word = folder + "/" + word;
    if (word == "-") word = input;
  }
  CommandResult result = tilewright_command(arguments, environment);
  result.output = without(result.output, root);
  return result;
}

void expect_lines_in_order(const std::string& output, const std::vector<std::string>& lines) {
  const std::string text = "\n" + output;
  std::size_t at = 0;
  for (const std::string& line : lines) {
    const std::size_t found = text.find("\n" + line + "\n", at);
    EXPECT_NE(found, std::string::npos) << "not there, or not in this place: " << line;
    if (found != std::string::npos) at = found + line.size() + 1;
  }
}

// Registers and order are the compiler's of another day; what is done to the data is not.
void expect_instructions(const std::string& output, const std::vector<std::string>& lines) {
  const auto is_there = [&](const std::string& text) {
    return output.find(text) != std::string::npos;
  };
  for (const std::string& line : lines) {
    if (line.starts_with("// ")) {
      EXPECT_TRUE(is_there("\n" + line + "\n")) << "not there: " << line;
      continue;
    }
    for (const std::string& word : words_of(line)) {
      if (word.starts_with("/*") || word.starts_with("@")) continue;
      const bool is_instruction = std::isalpha(static_cast<unsigned char>(word[0])) != 0;
      EXPECT_TRUE(!is_instruction || is_there(word + " ")) << "not there: " << word;
      break;
    }
  }
}

// A row of a table of bench: its way, and how many kernels and lines of source that is. Of what is
// in an explanation, the name of a kernel.
std::string facts_of(const std::string& line) {
  static const std::regex row(R"(  (\S+) .* (\d+) +(\d+|-) +\d\.\de[-+]\d\d( .*)?)");
  static const std::regex kernel(R"( +kernel +(\w+),.*)");
  std::smatch found;
  if (std::regex_match(line, found, row))
    return found.str(1) + " " + found.str(2) + " " + found.str(3);
  return std::regex_match(line, found, kernel) ? "kernel " + found.str(1) : "";
}

std::set<std::string> facts_of(const std::vector<std::string>& lines) {
  std::set<std::string> facts;
  for (const std::string& line : lines) facts.insert(facts_of(line));
  facts.erase("");
  return facts;
}

void expect_facts_of_bench(const Experiment& experiment, const std::string& output) {
  std::istringstream stream(output);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const std::set<std::string> shown = facts_of(experiment.expected), printed = facts_of(lines);
  if (experiment.is_shortened) EXPECT_THAT(shown, testing::IsSubsetOf(printed));
  else EXPECT_EQ(shown, printed);
}

void expect_as_shown(const Experiment& experiment, const std::string& output) {
  const std::vector<std::string> words = words_of(experiment.command);
  if (has(words, "opt") || has(words, "ir") || has(words, "cuda") || has(words, "cpp"))
    return expect_lines_in_order(output, experiment.expected);
  if (has(words, "ptx") || has(words, "sass"))
    return expect_instructions(output, experiment.expected);
  if (has(words, "bench")) expect_facts_of_bench(experiment, output);
  // The first line names the machine, which is another one.
  for (std::size_t i = 1; i < experiment.expected.size(); ++i)
    EXPECT_THAT(output, HasSubstr(words_of(experiment.expected[i])[0]));
}

bool is_sass(const Experiment& experiment) { return has(words_of(experiment.command), "sass"); }

void run_all(const std::vector<Experiment>& all) {
  const TemporaryFolder folder;
  std::string left_out;
  for (const Experiment& experiment : all) {
    SCOPED_TRACE(experiment.command);
    const CommandResult r = run_line(experiment.command, folder.path());
    const bool lacks_compiler = r.error.find("NVRTC") != std::string::npos;
    if (lacks_compiler || r.error.find("needs nvdisasm") != std::string::npos) {
      left_out += "\n" + experiment.command + ": " + r.error;
      continue;
    }
    EXPECT_EQ(r.exit_code, 0) << r.error;
    expect_as_shown(experiment, r.output);
  }
  if (!left_out.empty()) GTEST_SKIP() << "not run:" << left_out;
}

TEST(Course, EveryExperimentRuns) {
  const std::vector<Experiment> all = experiments("course.md");
  ASSERT_GE(all.size(), 17u);
  run_all(all);
}

TEST(Tour, SourceIsThatOfTheExample) {
  std::ostringstream example, tour;
  example << std::ifstream(std::string(TW_SOURCE_FOLDER) + "/examples/softmax.py").rdbuf();
  tour << std::ifstream(std::string(TW_SOURCE_FOLDER) + "/docs/tour.md").rdbuf();
  const std::string kernel = example.str().substr(example.str().find("@triton"));
  EXPECT_THAT(tour.str(), HasSubstr("```python\n" + kernel + "```\n"));
}

TEST(Tour, EveryCommandRuns) {
  std::vector<Experiment> all = experiments("tour.md");
  std::erase_if(all, is_sass);
  ASSERT_GE(all.size(), 5u);
  run_all(all);
}

TEST(Tour, MachineCodeIsAsShown) {
  std::vector<Experiment> all = experiments("tour.md");
  std::erase_if(all, [](const Experiment& one) { return !is_sass(one); });
  ASSERT_GE(all.size(), 1u);
  run_all(all);
}

}  // namespace
}  // namespace tilewright::cli
