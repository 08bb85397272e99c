// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/temporary_folder.cpp — mkdtemp, and files in it.
#include "runtime/cpu/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "runtime/disk_cache.h"

namespace tilewright {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void throw_file_error(const char* action, const std::string& path) {
  throw EnvironmentError(
      fmt::format("cannot {} the temporary file {}: {}", action, path, std::strerror(errno)));
}

}  // namespace

// Inside the cache's own, so that the next process sweeps it when this one is killed.
TemporaryFolder::TemporaryFolder() : path_(DiskCache::shared().temporary_folder() + "/XXXXXX") {
  if (!mkdtemp(path_.data()))
    throw EnvironmentError(fmt::format(
        "cannot make a temporary folder {}: {}; set TMPDIR to a folder that can be written", path_,
        std::strerror(errno)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name,
                                   std::span<const std::byte> bytes) const {
  const std::string path = path_ + "/" + name;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  File file(std::fopen(path.c_str(), "wbe"));
  if (!file) throw_file_error("make", path);
  const bool is_written =
      bytes.empty() || std::fwrite(bytes.data(), bytes.size(), 1, file.get()) == 1;
  if (!is_written || std::fflush(file.get()) != 0) throw_file_error("write", path);
  return path;
}

std::string TemporaryFolder::write(const std::string& name, std::string_view text) const {
  return write(name, std::as_bytes(std::span(text.data(), text.size())));
}

std::vector<std::byte> TemporaryFolder::read(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  const File file(problem ? nullptr : std::fopen(path.c_str(), "rbe"));
  if (!file) throw_file_error("read", path);
  std::vector<std::byte> bytes(size);
  if (size > 0 && std::fread(bytes.data(), size, 1, file.get()) != 1)
    throw_file_error("read", path);
  return bytes;
}

}  // namespace tilewright
