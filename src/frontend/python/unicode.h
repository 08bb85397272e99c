// SPDX-License-Identifier: Apache-2.0
// frontend/python/unicode.h — UTF-8 decoding and which characters may stand in a Python name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::python {

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

// Characters, not bytes.
int count_characters(std::string_view text);

// May this character (outside ASCII) stand in a name? Blocks of punctuation, symbols, spaces and
// emoji may not; all else counts as a letter.
bool is_letter(char32_t value);

// Does the character show anything? Python words its errors differently for those that do not.
bool is_printable(char32_t value);

}  // namespace tilewright::python
