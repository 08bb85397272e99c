// SPDX-License-Identifier: Apache-2.0
// base/input_file.cpp — opens, reads, and says why not.
#include "base/input_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {

std::string read_input(const std::string& path) {
  const auto fail = [&](int code) {
    throw EnvironmentError(fmt::format("cannot open '{}': {}", path, std::strerror(code)));
  };
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file) fail(errno);
  std::string text;
  char part[4096];
  // A folder can be opened; reading it is what fails.
  for (std::size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, got);
  const int problem = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (problem != 0) fail(problem);
  return text;
}

}  // namespace tilewright
