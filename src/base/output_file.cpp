// SPDX-License-Identifier: Apache-2.0
// base/output_file.cpp — writes beside the file, then renames.
#include "base/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tilewright/error.h"

namespace tilewright {
namespace {

[[noreturn]] void throw_not_writable(const std::string& path, int code) {
  throw EnvironmentError(fmt::format("cannot write '{}': {}", path, std::strerror(code)));
}

}  // namespace

void check_output(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw_not_writable(path, EISDIR);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string where = folder.empty() ? "." : folder.string();
  if (access(where.c_str(), W_OK | X_OK) != 0) throw_not_writable(path, errno);
}

void write_output(const std::string& path, std::string_view text) {
  write_output(path, [&](fmt::memory_buffer& out, const std::function<void()>&) {
    out.append(text.data(), text.data() + text.size());
  });
}

void write_output(const std::string& path, const MakeOutput& make) {
  const std::string beside = fmt::format("{}.{}.tmp", path, getpid());
  std::FILE* file = std::fopen(beside.c_str(), "wbe");
  if (!file) throw_not_writable(path, errno);
  int problem = 0;
  fmt::memory_buffer text;
  const auto flush = [&] {
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size() && problem == 0)
      problem = errno;
    text.clear();
  };
  make(text, flush);
  flush();
  if (std::fclose(file) != 0 && problem == 0) problem = errno;
  if (problem == 0 && std::rename(beside.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0) return;
  std::remove(beside.c_str());
  throw_not_writable(path, problem);
}

}  // namespace tilewright
