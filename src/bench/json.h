// SPDX-License-Identifier: Apache-2.0
// bench/json.h — JSON in the order it was written. A heavy header: include it only in the .cpp that
// makes or reads the text. The class is compiled once, in json.cpp.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace tilewright {

using Json = nlohmann::ordered_json;

// Throws Json::exception where the text is no JSON.
Json parse_json(std::string_view text);

// Indented; bytes that are no UTF-8 (a path, a compiler's words) are replaced, never an error.
std::string text_of(const Json& json);

}  // namespace tilewright
