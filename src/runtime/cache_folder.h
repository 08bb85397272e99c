// SPDX-License-Identifier: Apache-2.0
// runtime/cache_folder.h — the disk cache's folder: its checks, its entries, and temporaries that
// die with their owner.
//
//   FOLDER/entries/<32 digits>   finished entries, never changed after their rename
//   FOLDER/tmp/<anything>        work in progress: files being written, keys' locks, folders for
//   compilers
//
// One rule keeps tmp/ clean: whoever makes something there holds flock on it for as long as it is
// needed. What can be locked by another has lost its owner (killed, or crashed) and is swept. So no
// process needs to be asked whether it lives, also not across containers that share the folder.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace tilewright {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// Makes the folder and its parts where missing (0700) and checks that it is ours alone to write.
// Empty when it may be used, else one sentence that says why not and what to do.
std::string prepare_cache_folder(const std::string& folder);
// The check without making anything; a folder that is not there yet may be used.
std::string check_cache_folder(const std::string& folder);

// Makes the folders on the way to `path` and itself; an errno value, 0 on success.
int make_folders(const std::string& path);

std::string entries_folder(const std::string& folder);
std::string temporaries_folder(const std::string& folder);
std::string entry_path(const std::string& folder, const Hash128& key);

struct CacheFile {
  Hash128 key;
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t used_ns = 0;  // the last use: the file's modification time
};
// In no order; files that are not named like an entry are left out.
std::vector<CacheFile> list_entries(const std::string& folder);

// ---- Temporaries.

// Something in tmp/ that this process holds; it is removed when the value goes. A forked child's
// copy does nothing.
class Held {
 public:
  Held(FileDescriptor file, std::string path);
  ~Held();
  Held(Held&& other) noexcept = default;
  Held& operator=(Held&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    std::swap(owner_, other.owner_);
    return *this;
  }

  int file() const { return file_.number(); }
  const std::string& path() const { return path_; }
  bool is_ours() const;                     // false in a forked child
  bool rename_to(const std::string& path);  // then it is no temporary any more; false sets errno

 private:
  FileDescriptor file_;
  std::string path_;  // empty after a rename
  pid_t owner_;
};

// Empty when the folder does not allow it; errno says why.
std::optional<Held> hold_new_file(const std::string& tmp);
std::optional<Held> hold_new_folder(const std::string& tmp);
// The same name is held by one thread of one process at a time; waits for at most
// `patience_seconds`, then gives up with ETIMEDOUT.
std::optional<Held> hold_name(const std::string& tmp, const std::string& name,
                              double patience_seconds);

// Removes what nobody holds; returns how many things were removed.
std::int64_t sweep_temporaries(const std::string& tmp);
std::int64_t count_temporaries(const std::string& tmp);

}  // namespace tilewright
