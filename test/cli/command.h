// SPDX-License-Identifier: Apache-2.0
// cli/command.h — runs the tilewright command of this build (or the one that TILEWRIGHT_BIN names,
// in a bundle).
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/process.h"

namespace tilewright::cli {

inline std::string tilewright_path() {
  const char* given = std::getenv("TILEWRIGHT_BIN");
  return given ? given : TW_TILEWRIGHT_BIN;
}

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tilewright_cli_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Standard output and error apart; run_process gives both in one.
struct CommandResult {
  int exit_code = 0;
  std::string output;
  std::string error;
};

inline CommandResult tilewright_command(std::vector<std::string> arguments,
                                        std::vector<std::string> environment = {}) {
  const TemporaryFolder folder;
  const std::string error_path = folder.path() + "/error";
  // The path of the error file and the arguments are positional parameters: nothing is read by the
  // shell.
  std::vector<std::string> all = {"sh", "-c",       "error=$1; shift; exec \"$@\" 2>\"$error\"",
                                  "sh", error_path, tilewright_path()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  environment.push_back("TILEWRIGHT_CACHE_DIR=" + folder.path() + "/cache");
  const ProcessResult result =
      run_process({.arguments = all, .environment = environment, .timeout_seconds = 120});
  std::ostringstream error;
  error << std::ifstream(error_path).rdbuf();
  return {result.exit_code, result.output, error.str()};
}

}  // namespace tilewright::cli
