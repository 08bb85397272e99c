// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/source_lines.cpp — #line directives are put before every line, or taken out.
#include "codegen/cuda/source_lines.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::string_view directive = "#line ";

template <class Visit>
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    visit(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// `#line 7 "a.py"` in parts.
struct SourceLine {
  int line = 0;  // none yet
  std::string_view file;

  static SourceLine parse(std::string_view text) {
    text.remove_prefix(directive.size());
    SourceLine out;
    const char* const end = std::from_chars(text.data(), text.data() + text.size(), out.line).ptr;
    out.file = text.substr(static_cast<std::size_t>(end - text.data()));
    return out;
  }
};

std::string_view trimmed(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

bool has_code(std::string_view line) {
  line = trimmed(line);
  return !line.empty() && !line.starts_with('\n') && !line.starts_with("//");
}

}  // namespace

std::string repeat_line_directives(std::string_view text) {
  std::string out;
  SourceLine at;
  bool follows_pragma = false;
  each_line(text, [&](std::string_view line) {
    if (trimmed(line).starts_with(directive)) {
      at = SourceLine::parse(trimmed(line));
      return;
    }
    const bool is_pragma = trimmed(line).starts_with("#pragma");
    // A pragma stays beside its loop: the line before is announced instead.
    if (at.line != 0 && has_code(line) && !follows_pragma)
      out += fmt::format("{}{}{}", directive, std::max(1, at.line - (is_pragma ? 1 : 0)), at.file);
    follows_pragma = is_pragma;
    out += line;
  });
  return out;
}

SourceLines source_lines(std::string_view text) {
  SourceLines out;
  int number = 0;
  std::size_t file = 0;
  each_line(text, [&](std::string_view line) {
    if (!trimmed(line).starts_with(directive)) {
      out.lines.emplace_back(has_code(line) ? number : 0, file);
      return;
    }
    const SourceLine at = SourceLine::parse(trimmed(line));
    const std::size_t quote = std::min(at.file.find('"'), at.file.size());
    const std::string name(at.file.substr(quote, at.file.rfind('"') + 1 - quote));
    file = static_cast<std::size_t>(std::find(out.files.begin(), out.files.end(), name) -
                                    out.files.begin());
    if (file == out.files.size()) out.files.push_back(name);
    number = at.line;
  });
  return out;
}

std::string without_line_directives(std::string_view text) {
  std::string out;
  each_line(text, [&](std::string_view line) {
    if (!trimmed(line).starts_with(directive)) out += line;
  });
  return out;
}

}  // namespace tilewright
