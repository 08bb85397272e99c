// SPDX-License-Identifier: Apache-2.0
// runtime/disk_cache.cpp — finding, storing and evicting entries.
#include "runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "base/settings.h"
#include "runtime/cache_entry.h"
#include "runtime/cache_folder.h"
#include "runtime/process_folder.h"

namespace tilewright {
namespace {

// A use is recorded in the file's time only when the last one is older than this: a warm find then
// writes nothing.
constexpr std::int64_t use_resolution_seconds = 60;

std::string absolute_folder(const std::string& folder) {
  if (folder.empty()) return "";
  std::error_code error;
  const auto path = std::filesystem::absolute(folder, error);
  std::string text = error ? folder : path.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

// The content of an open file; shorter than its size when it cannot all be read.
std::vector<std::byte> read_all(int file, std::size_t size) {
  std::vector<std::byte> content(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, content.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

// An entry's file, open and known to be a regular file that only we could have written.
struct OpenEntry {
  FileDescriptor file;
  struct stat info {};
};

// Empty with errno ENOENT when there is none.
std::optional<OpenEntry> open_entry(const std::string& path) {
  OpenEntry entry{
      FileDescriptor(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))};
  if (!entry.file || fstat(entry.file.number(), &entry.info) != 0) return std::nullopt;
  errno = EPERM;
  if (!S_ISREG(entry.info.st_mode) || entry.info.st_uid != geteuid()) return std::nullopt;
  return entry;
}

void mark_used(const OpenEntry& entry) {
  if (std::abs(std::time(nullptr) - entry.info.st_mtim.tv_sec) < use_resolution_seconds) return;
  const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  futimens(entry.file.number(), now);  // a cache that may only be read keeps its times
}

void warn_unwritable(const std::string& folder, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  warn_once(
      fmt::format("kernels are not kept on disk: the cache folder {} cannot be written ({}); {} or "
                  "set TILEWRIGHT_CACHE_DIR to another folder",
                  folder, std::strerror(error), is_full ? "make room there" : "make it writable"));
}

}  // namespace

struct DiskCache::State {
  std::string folder;
  std::int64_t max_bytes;
  double patience_seconds;
  ProcessFolder compilers_folder;

  std::mutex mutex;  // guards all below
  bool is_prepared = false;
  std::string problem;
  std::int64_t bytes_until_scan = 0;  // what we may store before the folder is looked through
  std::int64_t damaged_removed = 0;

  std::string tmp() const { return temporaries_folder(folder); }
  bool is_on() const { return max_bytes > 0; }
  bool prepare();
  std::optional<Held> hold_key(const Hash128& key, double patience);
  int write_entry(const Hash128& key, std::span<const std::byte> content);
  void make_room(std::int64_t stored);
  void remove_damaged(const std::string& path, const OpenEntry& entry);
};

// Checks the folder and sweeps it at the first use; the answer stays for the life of the process.
bool DiskCache::State::prepare() {
  if (!is_on()) return false;
  const std::lock_guard lock(mutex);
  if (is_prepared) return problem.empty();
  is_prepared = true;
  problem = prepare_cache_folder(folder);
  if (!problem.empty()) {
    warn_once("kernels are not kept on disk: " + problem);
    return false;
  }
  const std::int64_t swept = sweep_temporaries(tmp());
  if (swept > 0) log_line("cache", fmt::format("removed {} abandoned temporaries", swept));
  return true;
}

// Empty when there can be no lock; the caller then works without.
std::optional<Held> DiskCache::State::hold_key(const Hash128& key, double patience) {
  const std::string name = key.hex() + ".lock";
  std::optional<Held> held = hold_name(tmp(), name, patience);
  if (!held && errno == ENOENT &&
      prepare_cache_folder(folder).empty())  // somebody removed the whole folder
    held = hold_name(tmp(), name, patience);
  if (!held && errno == ETIMEDOUT)
    log_line("cache",
             fmt::format("{}: another process has held its lock for {} s; going on without",
                         key.hex(), patience));
  return held;
}

// 0, or the errno value of what failed.
int DiskCache::State::write_entry(const Hash128& key, std::span<const std::byte> content) {
  std::optional<Held> file = hold_new_file(tmp());
  if (!file) return errno;
  if (!write_all(file->file(), content) || fdatasync(file->file()) != 0) return errno;
  return file->rename_to(entry_path(folder, key)) ? 0 : errno;
}

// Looks through the folder at the first store and then each time that a sixteenth of the limit was
// added by us, so that several processes together stay near the limit.
void DiskCache::State::make_room(std::int64_t stored) {
  const std::lock_guard lock(mutex);
  bytes_until_scan -= stored;
  if (bytes_until_scan > 0) return;
  std::vector<CacheFile> files = list_entries(folder);
  std::int64_t total = 0;
  for (const CacheFile& file : files) total += file.bytes;
  bytes_until_scan = max_bytes / 16;
  if (total <= max_bytes) {
    bytes_until_scan = std::min(bytes_until_scan, max_bytes - total + 1);
    return;
  }
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return a.used_ns < b.used_ns; });
  const std::int64_t wanted = max_bytes / 5 * 4;
  for (const CacheFile& file : files) {
    if (total <= wanted) break;
    if (unlink(file.path.c_str()) != 0 && errno != ENOENT) continue;
    total -= file.bytes;
    log_line("cache", fmt::format("{}: evicted", file.key.hex()));
  }
}

void DiskCache::State::remove_damaged(const std::string& path, const OpenEntry& entry) {
  struct stat named;
  // Another process may have put a good one there since.
  if (lstat(path.c_str(), &named) == 0 && named.st_ino == entry.info.st_ino) unlink(path.c_str());
  const std::lock_guard lock(mutex);
  ++damaged_removed;
}

DiskCache::DiskCache(std::string folder, std::int64_t max_bytes, double patience_seconds)
    : state_(std::make_unique<State>()) {
  state_->folder = absolute_folder(folder);
  state_->max_bytes = max_bytes;
  state_->patience_seconds = patience_seconds;
}

DiskCache::~DiskCache() = default;

DiskCache& DiskCache::shared() {
  using Caches = std::map<std::pair<std::string, std::int64_t>, DiskCache>;
  static std::mutex mutex;
  // One for each setting that was ever in force. Never destroyed: other threads may still compile
  // when the process exits.
  static Caches& caches = *new Caches;
  struct AtExit {
    ~AtExit() {
      const std::unique_lock lock(mutex, std::try_to_lock);  // see ProcessFolder::remove
      if (!lock) return;
      for (auto& [setting, cache] : caches) cache.state_->compilers_folder.remove();
    }
  };
  static const AtExit at_exit;
  const std::lock_guard lock(mutex);
  const Settings& now = settings();
  return caches
      .try_emplace({now.cache_folder, now.cache_max_bytes}, now.cache_folder, now.cache_max_bytes)
      .first->second;
}

std::optional<Binary> DiskCache::find(const Hash128& key) {
  if (!state_->prepare()) return std::nullopt;
  const std::string path = entry_path(state_->folder, key);
  const std::optional<OpenEntry> entry = open_entry(path);
  if (!entry) return std::nullopt;
  std::optional<Binary> binary = decode_cache_entry(
      key, read_all(entry->file.number(), static_cast<std::size_t>(entry->info.st_size)));
  if (binary) {
    mark_used(*entry);
  } else {
    log_line("cache", fmt::format("{}: damaged, removed", key.hex()));
    state_->remove_damaged(path, *entry);
  }
  return binary;
}

void DiskCache::store(const Hash128& key, const Binary& binary) {
  if (!state_->prepare()) return;
  const std::vector<std::byte> content = encode_cache_entry(key, binary);
  const auto size = static_cast<std::int64_t>(content.size());
  if (size > state_->max_bytes / 5 * 4) {
    log_line("cache", fmt::format("{}: not kept, {} bytes are too many for the limit of {}",
                                  key.hex(), size, state_->max_bytes));
    return;
  }
  int error = state_->write_entry(key, content);
  if (error == ENOENT &&
      prepare_cache_folder(state_->folder).empty())  // somebody removed the whole folder
    error = state_->write_entry(key, content);
  if (error != 0) {
    warn_unwritable(state_->folder, error);
    return;
  }
  log_line("cache", fmt::format("{}: stored, {} bytes", key.hex(), size));
  state_->make_room(size);
}

Binary DiskCache::find_or_make(const Hash128& key, const std::function<Binary()>& make,
                               bool* was_found) {
  std::optional<Binary> found = find(key);
  std::optional<Held> lock;
  if (!found && state_->prepare()) {
    lock = state_->hold_key(key, state_->patience_seconds);
    found = find(key);  // whoever held the lock before us may have made it
  }
  if (was_found) *was_found = found.has_value();
  if (found) return std::move(*found);
  Binary binary = make();
  store(key, binary);
  return binary;
}

std::optional<Held> DiskCache::hold(const Hash128& key, double patience_seconds) {
  if (!state_->prepare()) return std::nullopt;
  return state_->hold_key(key, patience_seconds);
}

DiskCache::Info DiskCache::info() const {
  Info info;
  info.folder = state_->folder;
  info.max_bytes = state_->max_bytes;
  info.problem = state_->is_on()
                     ? check_cache_folder(info.folder)
                     : "the cache is off because its size limit is 0; set TILEWRIGHT_CACHE_SIZE";
  if (info.problem.empty() && access(info.folder.c_str(), W_OK | X_OK) != 0 && errno != ENOENT)
    info.problem = fmt::format(
        "the cache folder {} cannot be written ({}); set TILEWRIGHT_CACHE_DIR to another folder",
        info.folder, std::strerror(errno));
  info.is_usable = info.problem.empty();
  for (const CacheFile& file : list_entries(info.folder)) {
    ++info.entries;
    info.bytes += file.bytes;
  }
  info.temporaries = count_temporaries(state_->tmp());
  const std::lock_guard lock(state_->mutex);
  info.damaged_removed = state_->damaged_removed;
  return info;
}

DiskCache::Info DiskCache::verify() const {
  Info result = info();
  for (const CacheFile& file : list_entries(result.folder)) {
    const std::optional<OpenEntry> entry = open_entry(file.path);
    if (!entry && errno == ENOENT) continue;  // evicted meanwhile
    const bool is_good =
        entry && is_intact_cache_entry(
                     file.key,
                     read_all(entry->file.number(), static_cast<std::size_t>(entry->info.st_size)));
    if (!is_good) ++result.damaged;
  }
  return result;
}

std::int64_t DiskCache::clear() {
  if (!check_cache_folder(state_->folder).empty()) return 0;
  std::int64_t removed = 0;
  for (const CacheFile& file : list_entries(state_->folder))
    if (unlink(file.path.c_str()) == 0) ++removed;
  sweep_temporaries(state_->tmp());
  return removed;
}

std::string DiskCache::temporary_folder() const {
  return state_->compilers_folder.path(state_->prepare() ? state_->folder : "");
}

}  // namespace tilewright
