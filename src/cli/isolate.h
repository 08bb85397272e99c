// SPDX-License-Identifier: Apache-2.0
// cli/isolate.h — runs a function in a child process with a time limit, so that a crash or an
// endless loop is only its own.
#pragma once

#include <functional>
#include <string>

namespace tilewright::cli {

struct IsolatedResult {
  bool finished = false;
  std::string text;     // what the function returned
  std::string problem;  // "crashed with signal 11 (Segmentation fault)", "took longer than 20 s"
  double seconds = 0;
};

// The child shares nothing that it changes with this process and runs no exit handlers. Call it
// only while this process has a single thread: a fork copies no others.
IsolatedResult run_isolated(const std::function<std::string()>& work, double limit_seconds);

}  // namespace tilewright::cli
