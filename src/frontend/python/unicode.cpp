// SPDX-License-Identifier: Apache-2.0
// frontend/python/unicode.cpp — UTF-8 and the character blocks that are no letters.
#include "frontend/python/unicode.h"

#include <algorithm>
#include <iterator>

namespace tilewright::python {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Sorted. Latin-1 signs, general punctuation, currency, arrows, mathematics, boxes, dingbats, CJK
// punctuation, private use, half and full width forms of ASCII signs, emoji.
constexpr Range no_letters[] = {
    {0x80, 0xa9},       {0xab, 0xb4},        {0xb6, 0xb6},     {0xb8, 0xb9},     {0xbb, 0xbf},
    {0xd7, 0xd7},       {0xf7, 0xf7},        {0x2000, 0x203e}, {0x2041, 0x2053}, {0x2055, 0x2070},
    {0x2072, 0x207e},   {0x2080, 0x208f},    {0x20a0, 0x20cf}, {0x2100, 0x2101}, {0x2190, 0x2bff},
    {0x3000, 0x3004},   {0x3008, 0x3020},    {0x3030, 0x3030}, {0xd800, 0xf8ff}, {0xfe10, 0xfe1f},
    {0xfe30, 0xfe32},   {0xfe35, 0xfe4c},    {0xfe50, 0xfe6f}, {0xfeff, 0xff0f}, {0xff1a, 0xff20},
    {0xff3b, 0xff3e},   {0xff40, 0xff40},    {0xff5b, 0xff65}, {0xffe0, 0xffff}, {0x1f000, 0x1faff},
    {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
};

constexpr Range no_signs[] = {
    {0x80, 0xa0},     {0xad, 0xad},     {0x2000, 0x200f},   {0x2028, 0x202f},
    {0x205f, 0x206f}, {0x3000, 0x3000}, {0xd800, 0xf8ff},   {0xfeff, 0xfeff},
    {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}, {0xf0000, 0x10ffff},
};

template <std::size_t Count>
bool contains(const Range (&ranges)[Count], char32_t value) {
  const Range* found = std::partition_point(std::begin(ranges), std::end(ranges),
                                            [&](const Range& range) { return range.last < value; });
  return found != std::end(ranges) && found->first <= value;
}

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

int count_characters(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

bool is_letter(char32_t value) { return value >= 0x80 && !contains(no_letters, value); }

bool is_printable(char32_t value) {
  if (value < 0x80) return value >= 0x20 && value != 0x7f;
  return !contains(no_signs, value);
}

}  // namespace tilewright::python
