// SPDX-License-Identifier: Apache-2.0
// cli/cache.cpp — `tilewright cache info|verify|clear`.
#include <fmt/format.h>

#include "base/table.h"
#include "base/units.h"
#include "bench/json.h"
#include "cli/verbs.h"
#include "runtime/disk_cache.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

Json to_json(const DiskCache::Info& info) {
  return {{"folder", info.folder},   {"is_usable", info.is_usable}, {"problem", info.problem},
          {"entries", info.entries}, {"bytes", info.bytes},         {"max_bytes", info.max_bytes}};
}

void print(const Json& json) { fmt::print("{}\n", text_of(json)); }

std::string count(std::int64_t n) { return fmt::format("{} {}", n, n == 1 ? "entry" : "entries"); }

void print_info(const DiskCache::Info& info, bool json) {
  if (json) return print(to_json(info));
  Table table({{}, {}}, 0);
  table.add({"folder", info.folder.empty() ? "none" : info.folder});
  if (!info.is_usable) table.add({"not used", info.problem});
  table.add({"holds", fmt::format("{}, {}", count(info.entries),
                                  format_bytes(static_cast<std::size_t>(info.bytes)))});
  table.add({"limit", format_bytes(static_cast<std::size_t>(info.max_bytes))});
  fmt::print("{}", table.to_string());
}

// A damaged entry is a failure of the command, so that a script notices; the next run that needs it
// compiles it again.
void print_verify(const DiskCache::Info& info, bool json) {
  if (json) {
    Json out = to_json(info);
    out["damaged"] = info.damaged;
    print(out);
  } else if (info.damaged == 0) {
    fmt::print("{} in {}, all whole\n", count(info.entries), info.folder);
  }
  if (info.damaged > 0)
    throw EnvironmentError(fmt::format(
        "{} of {} in {} {} damaged; 'tilewright cache clear' removes them", info.damaged,
        count(info.entries), info.folder, info.damaged == 1 ? "is" : "are"));
}

void print_clear(const std::string& folder, std::int64_t removed, bool json) {
  if (json) return print({{"folder", folder}, {"removed", removed}});
  fmt::print("removed {} from {}\n", count(removed), folder);
}

}  // namespace

void run_cache(const CacheOptions& options) {
  DiskCache& cache = DiskCache::shared();
  switch (options.action) {
    case CacheOptions::Action::Info:
      return print_info(cache.info(), options.json);
    case CacheOptions::Action::Verify:
      return print_verify(cache.verify(), options.json);
    case CacheOptions::Action::Clear: {
      const DiskCache::Info info = cache.info();
      if (!info.is_usable)
        throw EnvironmentError(fmt::format("the cache cannot be cleared: {}", info.problem));
      return print_clear(info.folder, cache.clear(), options.json);
    }
  }
}

}  // namespace tilewright::cli
