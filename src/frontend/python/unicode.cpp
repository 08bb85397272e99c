// SPDX-License-Identifier: Apache-2.0
// frontend/python/unicode.cpp — the character blocks that are no letters.
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

bool is_no_letter(char32_t value) {
  const Range* found = std::partition_point(std::begin(no_letters), std::end(no_letters),
                                            [&](const Range& range) { return range.last < value; });
  return found != std::end(no_letters) && found->first <= value;
}

}  // namespace

int count_characters(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

bool is_letter(char32_t value) { return value >= 0x80 && !is_no_letter(value); }

}  // namespace tilewright::python
