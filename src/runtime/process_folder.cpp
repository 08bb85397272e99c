// SPDX-License-Identifier: Apache-2.0
// runtime/process_folder.cpp — where compilers work: in the cache, else in the system's place.
#include "runtime/process_folder.h"

#include <sys/statvfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

// On a disk that is nearly full compilers are better off elsewhere.
bool has_room_for_compilers(const std::string& folder) {
  constexpr std::uint64_t wanted_bytes = 16 << 20;
  struct statvfs disk;
  return statvfs(folder.c_str(), &disk) != 0 ||
         std::uint64_t{disk.f_bavail} * disk.f_frsize >= wanted_bytes;
}

}  // namespace

std::string ProcessFolder::path(const std::string& cache_folder) {
  const std::lock_guard lock(mutex_);
  const std::string inside = path_in_cache(cache_folder);
  return inside.empty() ? path_in_system() : inside;
}

// Empty when there can be none.
std::string ProcessFolder::path_in_cache(const std::string& cache_folder) {
  if (cache_folder.empty() || !has_room_for_compilers(cache_folder)) return "";
  if (in_cache_ && in_cache_->is_ours() && access(in_cache_->path().c_str(), W_OK) == 0)
    return in_cache_->path();
  const std::string tmp = temporaries_folder(cache_folder);
  in_cache_.reset();
  in_cache_ = hold_new_folder(tmp);
  if (!in_cache_ && errno == ENOENT && prepare_cache_folder(cache_folder).empty())
    in_cache_ = hold_new_folder(tmp);  // somebody had removed the whole cache
  return in_cache_ ? in_cache_->path() : "";
}

std::string ProcessFolder::path_in_system() {
  if (!in_system_.empty() && in_system_owner_ == getpid()) return in_system_;
  std::error_code error;
  std::string place = std::filesystem::temp_directory_path(error).string();
  if (error) place = "/tmp";
  std::string name = place + "/tilewright-XXXXXX";
  if (!mkdtemp(name.data()))
    throw EnvironmentError(
        fmt::format("cannot make a folder for temporary files in {} ({}); set TMPDIR to one that "
                    "can be written",
                    place, std::strerror(errno)));
  in_system_owner_ = getpid();
  in_system_ = name;
  return in_system_;
}

void ProcessFolder::remove() {
  // Never waits: in a forked child the lock may belong to a thread that was left behind.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  in_cache_.reset();
  std::error_code ignored;
  if (!in_system_.empty() && in_system_owner_ == getpid())
    std::filesystem::remove_all(in_system_, ignored);
  in_system_.clear();
}

}  // namespace tilewright
