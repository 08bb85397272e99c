// SPDX-License-Identifier: Apache-2.0
// runtime/cache_folder.cpp — POSIX calls behind the disk cache.
#include "runtime/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::size_t key_digits = 32;
constexpr const char* remedy = "set TILEWRIGHT_CACHE_DIR to a folder of your own";

// Calls f(name) for everything in a folder; nothing when it cannot be read.
template <class F>
void for_each_name(const std::string& folder, F f) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(folder.c_str()), closedir);
  if (!stream) return;
  while (const dirent* item = readdir(stream.get())) {
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") f(std::string(name));
  }
}

std::optional<Hash128> key_of_name(std::string_view name) {
  if (name.size() != key_digits) return std::nullopt;
  Hash128 key;
  const char* middle = name.data() + key_digits / 2;
  const char* end = name.data() + key_digits;
  if (std::from_chars(name.data(), middle, key.high, 16).ptr != middle) return std::nullopt;
  if (std::from_chars(middle, end, key.low, 16).ptr != end) return std::nullopt;
  return key.hex() == name ? std::optional(key) : std::nullopt;
}

// Between opening a name and locking it another process may have swept it: the lock then is on a
// file without a name.
bool still_has_name(int file, const std::string& path) {
  struct stat opened;
  struct stat named;
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool lock_now(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

// A file or a folder with all that is in it. An orphaned compiler may still be writing into the
// folder: try again then.
void remove_path(const std::string& path) {
  std::error_code ignored;
  for (int attempt = 0; attempt < 3; ++attempt)
    if (std::filesystem::remove_all(path, ignored); !ignored) return;
}

// Names are only a help to readers of the folder: O_EXCL and mkdir settle who has one.
std::string new_name(const std::string& tmp) {
  static std::atomic<std::uint64_t> counter{0};
  return fmt::format("{}/{}-{}", tmp, getpid(), counter.fetch_add(1, std::memory_order_relaxed));
}

// `make(path)` makes and opens a new thing, or fails with EEXIST when the name is taken.
template <class Make>
std::optional<Held> hold_new(const std::string& tmp, Make make) {
  constexpr int attempts = 1000;
  for (int i = 0; i < attempts; ++i) {
    const std::string path = new_name(tmp);
    FileDescriptor file = make(path);
    if (!file && errno == EEXIST) continue;
    if (!file) return std::nullopt;
    const bool is_locked = lock_now(file.number());
    if (is_locked && still_has_name(file.number(), path)) return Held(std::move(file), path);
    if (!is_locked && errno != EWOULDBLOCK) {  // a file system without flock
      const int error = errno;
      remove_path(path);
      errno = error;
      return std::nullopt;
    }
  }
  errno = EEXIST;
  return std::nullopt;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

std::string entries_folder(const std::string& folder) { return folder + "/entries"; }
std::string temporaries_folder(const std::string& folder) { return folder + "/tmp"; }
std::string entry_path(const std::string& folder, const Hash128& key) {
  return entries_folder(folder) + "/" + key.hex();
}

int make_folders(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  const auto slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) return errno;
  if (const int error = make_folders(path.substr(0, slash))) return error;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

std::string check_cache_folder(const std::string& folder) {
  if (folder.empty())
    return "no cache folder is known because TILEWRIGHT_CACHE_DIR, XDG_CACHE_HOME and HOME are not "
           "set; set TILEWRIGHT_CACHE_DIR";
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) {
    if (errno == ENOENT) return "";
    return fmt::format("the cache folder {} cannot be used ({}); {}", folder, std::strerror(errno),
                       remedy);
  }
  if (!S_ISDIR(info.st_mode))
    return fmt::format("the cache folder {} is not a folder; {}", folder, remedy);
  if (info.st_uid != geteuid())
    return fmt::format("the cache folder {} belongs to user {}, not to user {}; {}", folder,
                       info.st_uid, geteuid(), remedy);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return fmt::format(
        "the cache folder {} can be written by others (mode {:04o}); run 'chmod go-w' on it or {}",
        folder, info.st_mode & 07777, remedy);
  return "";
}

std::string prepare_cache_folder(const std::string& folder) {
  if (std::string problem = check_cache_folder(folder); !problem.empty()) return problem;
  if (const int error = make_folders(folder))
    return fmt::format("the cache folder {} cannot be made ({}); {}", folder, std::strerror(error),
                       remedy);
  // Failing here is no problem of the folder as a whole: a read-only cache that is filled still
  // serves.
  mkdir(entries_folder(folder).c_str(), 0700);
  mkdir(temporaries_folder(folder).c_str(), 0700);
  return check_cache_folder(folder);
}

std::vector<CacheFile> list_entries(const std::string& folder) {
  std::vector<CacheFile> files;
  for_each_name(entries_folder(folder), [&](const std::string& name) {
    const auto key = key_of_name(name);
    if (!key) return;
    CacheFile file{*key, entry_path(folder, *key)};
    struct stat info;
    if (lstat(file.path.c_str(), &info) != 0) return;  // evicted meanwhile
    file.bytes = info.st_size;
    file.used_ns = info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
    files.push_back(std::move(file));
  });
  return files;
}

// ---- Temporaries.

Held::Held(FileDescriptor file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), owner_(getpid()) {}

Held::~Held() {
  if (!file_ || !is_ours()) return;
  if (!path_.empty()) remove_path(path_);
  // Closing alone would leave the lock with a forked child that has a copy of the descriptor.
  flock(file_.number(), LOCK_UN);
}

bool Held::is_ours() const { return owner_ == getpid(); }

bool Held::rename_to(const std::string& path) {
  if (rename(path_.c_str(), path.c_str()) != 0) return false;
  path_.clear();
  return true;
}

std::optional<Held> hold_new_file(const std::string& tmp) {
  return hold_new(tmp, [](const std::string& path) {
    return FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  });
}

std::optional<Held> hold_new_folder(const std::string& tmp) {
  return hold_new(tmp, [](const std::string& path) {
    if (mkdir(path.c_str(), 0700) != 0) return FileDescriptor();
    FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder && errno == ENOENT) errno = EEXIST;  // swept at once: try another name
    return folder;
  });
}

std::optional<Held> hold_name(const std::string& tmp, const std::string& name,
                              double patience_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(patience_seconds);
  const std::string path = tmp + "/" + name;
  // Asking again and again instead of blocking: a holder that is stopped must not stop everybody
  // else for ever.
  auto pause = std::chrono::microseconds(200);
  while (true) {
    FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return std::nullopt;
    while (!lock_now(file.number())) {
      if (errno != EWOULDBLOCK && errno != EINTR) return std::nullopt;
      if (Clock::now() >= deadline) {
        errno = ETIMEDOUT;
        return std::nullopt;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(10'000));
    }
    if (still_has_name(file.number(), path)) return Held(std::move(file), path);
  }
}

std::int64_t sweep_temporaries(const std::string& tmp) {
  std::int64_t removed = 0;
  for_each_name(tmp, [&](const std::string& name) {
    const std::string path = tmp + "/" + name;
    constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    FileDescriptor file(open(path.c_str(), O_RDWR | flags));  // NFS locks only what can be written
    if (!file && errno == EISDIR) file = FileDescriptor(open(path.c_str(), O_RDONLY | flags));
    if (!file || !lock_now(file.number()) || !still_has_name(file.number(), path)) return;
    const Held orphan(std::move(file), path);
    ++removed;
  });
  return removed;
}

std::int64_t count_temporaries(const std::string& tmp) {
  std::int64_t count = 0;
  for_each_name(tmp, [&](const std::string&) { ++count; });
  return count;
}

}  // namespace tilewright
