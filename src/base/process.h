// SPDX-License-Identifier: Apache-2.0
// base/process.h — runs a program by its argument vector, never through a shell, and captures what
// it prints.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

struct ProcessRequest {
  std::vector<std::string>
      arguments;      // arguments[0] is the program: a path, or a name looked for in PATH
  std::string input;  // fed to its standard input
  std::vector<std::string> environment;  // "NAME=value" added to (and replacing in) ours
  double timeout_seconds = 300;
};

struct ProcessResult {
  int exit_code = 0;  // 128 + signal when it was killed
  bool timed_out = false;
  std::string output;  // standard output and error, in the order they were written
};

// Throws MissingError when the program does not exist or cannot be started.
ProcessResult run_process(const ProcessRequest& request);

// The same, but the program has our standard input, output and error; `input` and the time limit
// are not looked at. An interrupt goes to the program, and we go on when it has ended.
// Returns its exit code, 128 + signal when it was killed.
int run_in_foreground(const ProcessRequest& request);

// The absolute path of a program in PATH (or of a path itself); empty when there is none that can
// be executed.
std::string find_program(const std::string& name);

}  // namespace tilewright
