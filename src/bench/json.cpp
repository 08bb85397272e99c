// SPDX-License-Identifier: Apache-2.0
// bench/json.cpp — the one place where the JSON class is compiled.
#include "bench/json.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace tilewright {

Json parse_json(std::string_view text) { return Json::parse(text); }

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tilewright
