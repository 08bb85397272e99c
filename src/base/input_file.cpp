// SPDX-License-Identifier: Apache-2.0
// base/input_file.cpp — opens, reads, and says why not.
#include "base/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {

std::string read_input(const std::string& path, std::size_t at_most) {
  const auto fail = [&](int code) {
    throw EnvironmentError(fmt::format("cannot open '{}': {}", path, std::strerror(code)));
  };
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file) fail(errno);
  std::string text;
  char part[4096];
  // A folder can be opened; reading it is what fails.
  while (text.size() < at_most) {
    const std::size_t got = std::fread(part, 1, std::min(sizeof part, at_most - text.size()), file);
    if (got == 0) break;
    text.append(part, got);
  }
  const int problem = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (problem != 0) fail(problem);
  return text;
}

}  // namespace tilewright
