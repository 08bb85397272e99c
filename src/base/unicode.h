// SPDX-License-Identifier: Apache-2.0
// base/unicode.h — UTF-8, and which characters show anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewright {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: what stands there is not UTF-8
};

// The character at the start of `text`.
CodePoint decode_utf8(std::string_view text);

// Appends the character; surrogates and values beyond Unicode become U+FFFD.
void append_utf8(std::string& out, char32_t value);

// A byte that continues a character and so does not move the column.
constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// The first `bytes` of the text, fewer where a character would be split.
std::string_view cut_utf8(std::string_view text, std::size_t bytes);

// Does the character show anything? Control characters, separators of lines and marks that turn the
// direction of the text do not.
bool is_printable(char32_t value);

}  // namespace tilewright
