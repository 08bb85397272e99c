// SPDX-License-Identifier: Apache-2.0
// runtime/disk_cache.h — compiled kernels on disk, by content.
//
// An entry is one file named by its key, written to a temporary name, synced and renamed, so that it is whole or absent
// at any moment; a checksum in it finds what a disk or a hand has damaged. Locks are flock on one file per key, so that a
// killed process leaves none behind. A folder that cannot be used costs one warning and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/hash.h"
#include "runtime/backend.h"

namespace tilewright {

class DiskCache {
 public:
  explicit DiskCache(std::string folder, std::int64_t max_bytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // The process's cache, in settings().cache_folder.
  static DiskCache& shared();

  // The entry, marked as used now; a damaged one is removed and counts as absent.
  std::optional<Binary> find(const Hash128& key);
  // Never throws because of the disk: a full or broken one is warned about once.
  void store(const Hash128& key, const Binary& binary);
  // find, else make() under the key's lock (others wait for it, then find it), store and return.
  Binary find_or_make(const Hash128& key, const std::function<Binary()>& make, bool* was_found = nullptr);

  struct Info {
    std::string folder;
    bool is_usable = false;
    std::string problem;             // why it is not
    std::int64_t entries = 0;
    std::int64_t bytes = 0;
    std::int64_t max_bytes = 0;
    std::int64_t damaged = 0;        // entries whose checksum does not fit (only counted by verify)
  };
  Info info() const;
  Info verify() const;               // reads every entry
  std::int64_t clear();              // removes every entry; returns how many

  // A folder for compilers' temporaries inside the cache (swept at the next start after a kill), or the system's.
  std::string temporary_folder() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
