// SPDX-License-Identifier: Apache-2.0
// base/text.h — small questions about text.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

// What fits into a table's cell of a message with details below.
inline std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace tilewright
