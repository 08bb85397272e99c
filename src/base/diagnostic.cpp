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

std::string render(const Diagnostic& diagnostic, std::string_view text) {
  const Span span = diagnostic.span;
  std::string out;
  if (span.line > 0) out = fmt::format("{}:{}:{}: error: {}", diagnostic.file, span.line, span.column, diagnostic.message);
  else out = fmt::format("{}: error: {}", diagnostic.file, diagnostic.message);

  const std::string_view line = line_of(text, span.line);
  if (!line.empty()) {
    const auto before = std::min(static_cast<std::size_t>(std::max(span.column - 1, 0)), line.size());
    const auto room = std::max<std::size_t>(line.size() - before, 1);
    const auto length = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(span.length, 1)), 1, room);
    std::string pad(line.substr(0, before));
    for (char& c : pad)
      if (c != '\t') c = ' ';   // tabs stay, so that the caret lines up
    out += fmt::format("\n    {}\n    {}{}", line, pad, std::string(length, '^'));
  }
  if (!diagnostic.hint.empty()) out += "\nhint: " + diagnostic.hint;
  return out;
}

}  // namespace tilewright
