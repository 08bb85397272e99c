// SPDX-License-Identifier: Apache-2.0
// cli/command_description.h — the command with its verbs and options as plain data, from which
// shell completions and the manual page are written.
#pragma once

#include <string>
#include <vector>

namespace tilewright::cli {

struct DescribedOption {
  std::vector<std::string> short_names;  // "o" of -o
  std::vector<std::string> long_names;   // "output" of --output
  bool takes_value = false;
  std::string text;
};

struct DescribedVerb {
  std::string name;
  std::string text;
  std::string examples;  // what stands below the options
  std::vector<DescribedOption> options;
  std::vector<DescribedOption> positionals;  // long_names has one name
  std::vector<DescribedVerb> verbs;          // of `cache`: info, verify, clear
};

// `form` is bash, zsh, fish or man; throws UsageError for others.
std::string written_description(const DescribedVerb& command, const std::string& form);

}  // namespace tilewright::cli
