// SPDX-License-Identifier: Apache-2.0
// compiler/tune/store.h — what tuning has measured, kept in the disk cache.
//
// One entry for each kernel source, device, tune key and version of this library: every config with
// its times or the reason why it was not timed, and the winner once there is one. It is written
// anew after each piece of measuring (whole or not at all, with a checksum: runtime/disk_cache.h),
// so that a run that is interrupted loses nothing but the piece it was at.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/disk_cache.h"

namespace tilewright {

struct Timing {
  double median = 0;  // seconds
  double low = 0;     // a tenth of the samples lies below
  double high = 0;    // a tenth of them above
  int samples = 0;
};

struct StoredConfig {
  std::string config;   // as config_text writes it
  std::string code;     // a hash of its source: what was timed
  Timing timing;        // no samples: it was not timed
  std::string problem;  // why not
};

struct TuneRecord {
  std::string kernel;
  std::string device;
  std::string key;
  std::string given;  // the types of the arguments it was measured with
  std::vector<StoredConfig> configs;
  std::string winner;        // a config of these; empty while there is none
  bool is_finished = false;  // else it was interrupted; the winner may be that of a run before

  const StoredConfig* find(std::string_view config) const;
};

std::string record_text(const TuneRecord& record);
// Empty when the text is no record, or one of another format.
std::optional<TuneRecord> parse_record(std::string_view text);

// What an entry is found by.
struct TunePlace {
  std::string kernel;
  std::string source;  // the text of the kernel's file
  Device device;
  std::string key;
};

class TuneStore {
 public:
  TuneStore(DiskCache& cache, const TunePlace& place);

  std::optional<TuneRecord> find();
  void store(const TuneRecord& record);
  // Others that tune the same wait for it; empty without a cache, or when patience ends.
  std::optional<Held> hold(double patience_seconds) { return cache_.hold(key_, patience_seconds); }

 private:
  DiskCache& cache_;
  Hash128 key_;
};

}  // namespace tilewright
