// SPDX-License-Identifier: Apache-2.0
// bench/json.h — JSON in the order it was written. A heavy header: include it only in the .cpp that
// makes the text.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace tilewright {

using Json = nlohmann::ordered_json;

// Indented; bytes that are no UTF-8 (a path, a compiler's words) are replaced, never an error.
inline std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tilewright
