// SPDX-License-Identifier: Apache-2.0
// profile/output_file.cpp — writes beside the file, then renames.
#include "profile/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tilewright/error.h"

namespace tilewright {

void write_output(
    const std::string& path,
    const std::function<void(fmt::memory_buffer& text, const std::function<void()>& flush)>& make) {
  const std::string beside = fmt::format("{}.{}.tmp", path, getpid());
  const auto fail = [&](int error) {
    std::remove(beside.c_str());
    throw EnvironmentError(fmt::format("{} cannot be written: {}; name a file in a folder that can",
                                       path, std::strerror(error)));
  };
  std::FILE* file = std::fopen(beside.c_str(), "wbe");
  if (!file) fail(errno);
  fmt::memory_buffer text;
  bool is_good = true;
  const auto flush = [&] {
    is_good &= std::fwrite(text.data(), 1, text.size(), file) == text.size();
    text.clear();
  };
  make(text, flush);
  flush();
  const int write_error = errno;
  is_good &= std::fclose(file) == 0;
  if (!is_good) fail(write_error);
  if (std::rename(beside.c_str(), path.c_str()) != 0) fail(errno);
}

}  // namespace tilewright
