// SPDX-License-Identifier: Apache-2.0
// base/embedded.cpp — the table of embedded files.
#include "base/embedded.h"

#include <map>

#include "base/check.h"

namespace tilewright {
namespace {

// Filled while static objects are made, read-only afterwards. Inside a function, so that it exists
// before its first user.
std::map<std::string_view, std::string_view>& files() {
  static std::map<std::string_view, std::string_view> table;
  return table;
}

}  // namespace

EmbeddedFile::EmbeddedFile(std::string_view name, std::string_view text) {
  files().emplace(name, text);
}

std::string_view embedded_file(std::string_view name) {
  const auto found = files().find(name);
  TW_CHECK(found != files().end(), "no embedded file '{}'", name);
  return found->second;
}

}  // namespace tilewright
