// SPDX-License-Identifier: Apache-2.0
// base/diagnostic.cpp — rendering of a message with its source line and caret.
#include "base/diagnostic.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright {

std::string_view line_of(std::string_view text, int number) {
  std::size_t begin = 0;
  for (int line = 1; line < number; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  if (number < 1 || begin > text.size()) return {};
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Columns count characters of UTF-8, so one blank stands under each; tabs stay, so that the caret
// lines up.
std::string caret_line(std::string_view line, Span span) {
  const int characters =
      static_cast<int>(std::count_if(line.begin(), line.end(), starts_character));
  const int before = std::clamp(span.column - 1, 0, characters);
  std::string out;
  int seen = 0;
  for (const char byte : line) {
    if (!starts_character(byte)) continue;
    if (seen++ == before) break;
    out += byte == '\t' ? '\t' : ' ';
  }
  const int room = std::max(characters - before, 1);
  return out + std::string(static_cast<std::size_t>(std::clamp(span.length, 1, room)), '^');
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::string_view text) {
  const Span span = diagnostic.span;
  std::string out;
  if (span.line > 0)
    out = fmt::format("{}:{}:{}: error: {}", diagnostic.file, span.line, span.column,
                      diagnostic.message);
  else out = fmt::format("{}: error: {}", diagnostic.file, diagnostic.message);

  const std::string_view line = line_of(text, span.line);
  if (!line.empty()) out += fmt::format("\n    {}\n    {}", line, caret_line(line, span));
  if (!diagnostic.hint.empty()) out += "\nhint: " + diagnostic.hint;
  for (const std::string& note : diagnostic.notes) out += "\n" + note;
  return out;
}

}  // namespace tilewright
