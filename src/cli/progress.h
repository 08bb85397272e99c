// SPDX-License-Identifier: Apache-2.0
// cli/progress.h — a line on stderr that says what is being done, only where a person is watching.
#pragma once

#include <string>

namespace tilewright::cli {

class Progress {
 public:
  Progress();
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& text);

 private:
  bool is_terminal_;
};

}  // namespace tilewright::cli
