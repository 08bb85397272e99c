// SPDX-License-Identifier: Apache-2.0
// runtime/disk_cache.h — compiled kernels on disk, by content.
//
// An entry is one file named by its key, written to a temporary name, synced and renamed, so that
// it is whole or absent at any moment; a checksum in it finds what a disk or a hand has damaged.
// Locks are flock on one file per key, so that a killed process leaves none behind. A folder that
// cannot be used costs one warning and nothing else.
//
// Any number of processes and threads may use one folder at the same time, also with different size
// limits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "runtime/backend.h"
#include "runtime/cache_folder.h"

namespace tilewright {

class DiskCache {
 public:
  // Touches nothing on disk until it is used. With `max_bytes` 0 the cache is off: nothing is found
  // or kept. Whoever waits longer than `patience_seconds` for another's compilation compiles for
  // itself.
  explicit DiskCache(std::string folder, std::int64_t max_bytes, double patience_seconds = 60);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // The process's cache, in settings().cache_folder.
  static DiskCache& shared();

  // The entry, marked as used now; a damaged one is removed and counts as absent. Reads one file
  // and scans nothing.
  std::optional<Binary> find(const Hash128& key);
  // Never throws because of the disk: a full or broken one is warned about once. Removes the
  // entries that were not used for longest when all together exceed the limit, down to 80% of it.
  void store(const Hash128& key, const Binary& binary);
  // find, else make() under the key's lock (others wait for it, then find it), store and return.
  // When make() throws, nothing is kept. make() may use the cache for other keys, but not for this
  // one.
  Binary find_or_make(const Hash128& key, const std::function<Binary()>& make,
                      bool* was_found = nullptr);

  // The key's lock, for whoever makes an entry in several steps: the others wait as long as
  // `patience_seconds`. Empty when the cache is off or cannot be used, or patience ends.
  std::optional<Held> hold(const Hash128& key, double patience_seconds);

  struct Info {
    std::string folder;
    bool is_usable = false;  // entries can be kept there (the folder may not exist yet)
    std::string problem;     // why it is not, and what to do
    std::int64_t entries = 0;
    std::int64_t bytes = 0;
    std::int64_t max_bytes = 0;
    std::int64_t temporaries = 0;  // files and folders of work in progress, of all processes
    std::int64_t damaged = 0;      // entries whose checksum does not fit (only counted by verify)
    std::int64_t damaged_removed = 0;  // found damaged, and removed, by this object
  };
  Info info() const;
  Info verify() const;  // reads every entry, removes none
  std::int64_t
  clear();  // removes every entry and all abandoned temporaries; returns how many entries

  // A folder for this process's temporary files: inside the cache (swept at the next start after a
  // kill), or in the system's place for them. It is the same for all threads, so names in it must
  // be unique; it goes with this object (for shared(): at exit). Throws EnvironmentError when there
  // is no place at all.
  std::string temporary_folder() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
