// SPDX-License-Identifier: Apache-2.0
// cli/step_source.h — the lines of a kernel's files, and which function each belongs to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::cli {

class StepSource {
 public:
  explicit StepSource(const ir::Kernel& kernel);

  // Empty when there is no such line.
  std::string line(int file, int number) const;
  // The number of the innermost `def` around the line; the same for all lines of a function.
  int function_at(int file, int line) const;
  std::string function_name(int function) const;
  // The first line from `wanted` on that does something; 0: none. Of the kernel's own file.
  int line_from(int wanted) const;
  const std::string& file_name(int file) const {
    return files_[static_cast<std::size_t>(file)].name;
  }

 private:
  struct File {
    std::string name;
    std::vector<std::string> lines;
    std::vector<int> functions;  // by line
  };
  std::vector<File> files_;
  std::vector<std::string> names_;
  std::set<int> lines_;  // of the first file, with ops
};

}  // namespace tilewright::cli
