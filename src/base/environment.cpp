// SPDX-License-Identifier: Apache-2.0
// base/environment.cpp — the process's environment as it is now.
#include "base/environment.h"

#include <string_view>

extern char** environ;

namespace tilewright {

std::optional<std::string> environment_variable(const std::string& name) {
  for (auto& [known, value] : environment_variables())
    if (known == name) return std::move(value);
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> environment_variables() {
  std::vector<std::pair<std::string, std::string>> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view text = *at;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    all.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

}  // namespace tilewright
