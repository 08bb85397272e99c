// SPDX-License-Identifier: Apache-2.0
// cli/isolate.h — runs pieces of work in child processes with a time limit, several at once, so
// that a crash or an endless loop is only its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace tilewright::cli {

struct IsolatedResult {
  bool finished = false;
  std::string text;     // what the work returned
  std::string problem;  // "crashed with signal 11 (Segmentation fault)", "took longer than 20 s"
  double seconds = 0;
};

struct Isolation {
  double limit_seconds = 20;  // of each piece
  int jobs = 0;               // at once; 0: as many as the machine has threads
};

// Runs work(0) to work(count - 1); `done` hears of each when it ends, in any order. A child shares
// nothing that it changes with this process and runs no exit handlers. Call it only while this
// process has a single thread: a fork copies no others.
void run_isolated(std::size_t count, const Isolation& isolation,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const IsolatedResult&)>& done);

}  // namespace tilewright::cli
