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

// Devices and pipes are written to; a file beside them that takes their name would replace them.
bool is_special(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// A link stays, and what it points to is written.
std::string target_of(const std::string& path) {
  std::error_code problem;
  const std::filesystem::path real = std::filesystem::canonical(path, problem);
  return problem ? path : real.string();
}

}  // namespace

void check_output(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw_not_writable(path, EISDIR);
  if (is_special(path)) return;
  const std::filesystem::path folder = std::filesystem::path(target_of(path)).parent_path();
  const std::string where = folder.empty() ? "." : folder.string();
  if (access(where.c_str(), W_OK | X_OK) != 0) throw_not_writable(path, errno);
}

void write_output(const std::string& path, std::string_view text) {
  write_output(path, [&](fmt::memory_buffer& out, const std::function<void()>&) {
    out.append(text.data(), text.data() + text.size());
  });
}

void write_output(const std::string& path, const MakeOutput& make) {
  const bool is_direct = is_special(path);
  const std::string target = is_direct ? path : target_of(path);
  const std::string beside = is_direct ? path : fmt::format("{}.{}.tmp", target, getpid());
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
  if (problem == 0 && !is_direct && std::rename(beside.c_str(), target.c_str()) != 0)
    problem = errno;
  if (problem == 0) return;
  if (!is_direct) std::remove(beside.c_str());
  throw_not_writable(path, problem);
}

}  // namespace tilewright
