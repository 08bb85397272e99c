// SPDX-License-Identifier: Apache-2.0
// cli/debugging_test.cpp — docs/debugging.md: its kernels are written down, its commands are run,
// and print what it says.
#include <map>

#include <gtest/gtest.h>

#include "base/quote.h"
#include "command.h"

namespace tilewright::cli {
namespace {

struct DocumentedCommand {
  std::string command;
  std::string expected;
};

struct DebuggingDocument {
  std::map<std::string, std::string> files;  // by the name in their first line
  std::vector<DocumentedCommand> commands;
};

DebuggingDocument read_debugging_document() {
  std::ifstream file(std::string(TW_SOURCE_FOLDER) + "/docs/debugging.md");
  DebuggingDocument document;
  std::string block, name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      block = block.empty() ? line.substr(3) : "";
      name.clear();
    } else if (block == "python") {
      if (name.empty()) name = line.substr(2);
      document.files[name] += line + "\n";
    } else if (block == "console" && line.starts_with("$ ")) {
      document.commands.push_back({line.substr(2), ""});
    } else if (block == "console") {
      document.commands.back().expected += line + "\n";
    }
  }
  return document;
}

TEST(DebuggingDocument, PrintsWhatItsCommandsPrint) {
  const DebuggingDocument document = read_debugging_document();
  EXPECT_EQ(document.files.size(), 5u);
  EXPECT_GE(document.commands.size(), 7u);
  const TemporaryFolder folder;
  for (const auto& [name, text] : document.files) std::ofstream(folder.path() + "/" + name) << text;
  std::filesystem::create_directory(folder.path() + "/bin");
  std::filesystem::create_symlink(tilewright_path(), folder.path() + "/bin/tilewright");
  for (const DocumentedCommand& each : document.commands) {
    const ProcessResult r =
        run_process({.arguments = {"sh", "-c",
                                   "cd " + shell_word(folder.path()) + " && PATH=./bin:$PATH && " +
                                       each.command},
                     .environment = {"TILEWRIGHT_CACHE_DIR=" + folder.path() + "/cache"},
                     .timeout_seconds = 60});
    EXPECT_EQ(r.output, each.expected) << each.command;
  }
}

}  // namespace
}  // namespace tilewright::cli
