// SPDX-License-Identifier: Apache-2.0
// base/embedded.h — text files that are part of the library (cmake/embed.cmake puts them there).
#pragma once

#include <string_view>

namespace tilewright {

// The text of an embedded file; an InternalError when there is none of that name.
std::string_view embedded_file(std::string_view name);

// Registers one file; only generated code makes these.
struct EmbeddedFile {
  EmbeddedFile(std::string_view name, std::string_view text);
};

}  // namespace tilewright
