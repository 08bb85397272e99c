// SPDX-License-Identifier: Apache-2.0
// base/diagnostic.cpp — rendering of a message with its source line and caret.
#include "base/diagnostic.h"

#include <algorithm>
#include <vector>

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

// Lines of generated or minified files may be very long: what is shown is the part around the
// caret. Gives the part and moves the span with it.
std::string shown_part(std::string_view line, Span& span) {
  constexpr int most = 160;   // characters
  constexpr int before = 60;  // of them, left of the caret
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (starts_character(line[i])) starts.push_back(i);
  const int count = static_cast<int>(starts.size());
  if (count <= most) return std::string(line);
  const int first = std::clamp(span.column - 1 - before, 0, count - most);
  const bool is_end = first + most == count;
  const std::size_t begin = starts[static_cast<std::size_t>(first)];
  const std::size_t end = is_end ? line.size() : starts[static_cast<std::size_t>(first + most)];
  const std::string_view head = first > 0 ? "..." : "";
  span.column += static_cast<int>(head.size()) - first;
  span.length = std::min(span.length, most - (span.column - 1 - static_cast<int>(head.size())));
  return fmt::format("{}{}{}", head, line.substr(begin, end - begin), is_end ? "" : "...");
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::string_view text) {
  const Span span = diagnostic.span;
  std::string out;
  if (span.line > 0)
    out = fmt::format("{}:{}:{}: error: {}", diagnostic.file, span.line, span.column,
                      diagnostic.message);
  else out = fmt::format("{}: error: {}", diagnostic.file, diagnostic.message);

  if (const std::string_view line = line_of(text, span.line); !line.empty()) {
    Span moved = span;
    const std::string part = shown_part(line, moved);
    out += fmt::format("\n    {}\n    {}", part, caret_line(part, moved));
  }
  if (!diagnostic.hint.empty()) out += "\nhint: " + diagnostic.hint;
  for (const std::string& note : diagnostic.notes) out += "\n" + note;
  return out;
}

}  // namespace tilewright
