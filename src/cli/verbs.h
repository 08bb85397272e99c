// SPDX-License-Identifier: Apache-2.0
// cli/verbs.h — the verbs as functions over their options; each prints its result and throws on
// failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright::cli {

// A wrong command line: exit code 2. Everything else that is thrown is exit code 1.
struct UsageError {
  std::string sentence;
};

struct InfoOptions {
  bool json = false;
  bool measure = true;
};
void run_info(const InfoOptions& options);

struct OccupancyOptions {
  bool json = false;
  std::optional<std::string> target;  // else the GPU of this machine, else sm_90a
  std::optional<int> threads;         // else the suggested block size
  int registers = 32;
  std::int64_t shared_bytes = 0;
  std::optional<std::int64_t> grid;
};
void run_occupancy(const OccupancyOptions& options);

struct CacheOptions {
  enum class Action { Info, Verify, Clear };
  Action action = Action::Info;
  bool json = false;
};
void run_cache(const CacheOptions& options);

}  // namespace tilewright::cli
