// SPDX-License-Identifier: Apache-2.0
// base/log.cpp — topic matching and the set of warnings already said.
#include "base/log.h"

#include <cstdio>
#include <mutex>
#include <unordered_set>

#include <fmt/format.h>

#include "base/settings.h"

namespace tilewright {

bool logs(std::string_view topic) {
  std::string_view rest = settings().log;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    if (item == topic || item == "all") return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

void log_line(std::string_view topic, const std::string& line) {
  if (logs(topic)) fmt::print(stderr, "tilewright: {}: {}\n", topic, line);
}

void warn_once(const std::string& line) {
  static std::mutex mutex;
  static std::unordered_set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(line).second) fmt::print(stderr, "tilewright: warning: {}\n", line);
}

}  // namespace tilewright
