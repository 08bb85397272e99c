// SPDX-License-Identifier: Apache-2.0
// base/unicode.cpp — UTF-8 and the character blocks that show nothing.
#include "base/unicode.h"

#include <algorithm>
#include <iterator>

namespace tilewright {
namespace {

struct InvisibleRange {
  char32_t first;
  char32_t last;
};

// Sorted.
constexpr InvisibleRange invisible[] = {
    {0x80, 0xa0},     {0xad, 0xad},     {0x2000, 0x200f},   {0x2028, 0x202f},
    {0x205f, 0x206f}, {0x3000, 0x3000}, {0xd800, 0xf8ff},   {0xfeff, 0xfeff},
    {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}, {0xf0000, 0x10ffff},
};

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  if (text.empty()) return {};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  std::size_t bytes = 0;
  char32_t value = 0;
  char32_t smallest = 0;
  if ((lead & 0xe0) == 0xc0) bytes = 2, value = lead & 0x1f, smallest = 0x80;
  else if ((lead & 0xf0) == 0xe0) bytes = 3, value = lead & 0x0f, smallest = 0x800;
  else if ((lead & 0xf8) == 0xf0) bytes = 4, value = lead & 0x07, smallest = 0x10000;
  if (bytes == 0 || text.size() < bytes) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest || value > 0x10ffff || surrogate) return {};
  return {value, bytes};
}

void append_utf8(std::string& out, char32_t value) {
  if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) value = 0xfffd;
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((value >> shift) & 0x3f)); };
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xc0 | (value >> 6));
    tail(0);
  } else if (value < 0x10000) {
    out += static_cast<char>(0xe0 | (value >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (value >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && is_continuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

bool is_printable(char32_t value) {
  if (value < 0x80) return value >= 0x20 && value != 0x7f;
  const InvisibleRange* found =
      std::partition_point(std::begin(invisible), std::end(invisible),
                           [&](const InvisibleRange& range) { return range.last < value; });
  return found == std::end(invisible) || found->first > value;
}

}  // namespace tilewright
