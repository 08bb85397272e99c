// SPDX-License-Identifier: Apache-2.0
// base/quote.cpp — each language's own marks, and what stands for them.
#include "base/quote.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/unicode.h"

namespace tilewright {
namespace {

// Calls `visit(character, bytes)` for every character. A byte that is no UTF-8 comes alone, as
// U+FFFD.
constexpr char32_t no_character = 0xfffd;

template <class Visit>
void each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    visit(point.bytes == 0 ? no_character : point.value, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

bool is_damaged(char32_t character, std::string_view bytes) {
  return character == no_character && bytes.size() == 1;
}

std::string escaped_for_people(char32_t character, std::string_view bytes) {
  if (character == '\n') return "\\n";
  if (character == '\t') return "\\t";
  if (bytes.size() == 1) return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
  return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character));
}

// With escapes for what shows nothing, but for the characters to keep.
std::string shown(std::string_view text, std::string_view kept) {
  std::string out;
  each_character(text, [&](char32_t character, std::string_view bytes) {
    const bool is_shown = is_printable(character) && !is_damaged(character, bytes);
    if (is_shown || kept.find(bytes) != std::string_view::npos) out += bytes;
    else out += escaped_for_people(character, bytes);
  });
  return out;
}

// A backslash at the end of a line, or the trigraph of one, continues it; so does one with blanks
// behind it.
void drop_continuations(std::string& text) {
  while (true) {
    while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\\')) text.pop_back();
    if (!text.ends_with("?\?/")) return;
    text.resize(text.size() - 3);
  }
}

bool ends_name_in_ptx(char32_t character, std::string_view bytes) {
  return character == '"' || character == '\\' || !is_printable(character) ||
         is_damaged(character, bytes);
}

// What XML 1.0 cannot hold, not even as a reference.
bool is_no_xml(char32_t character) {
  const bool is_blank = character == '\t' || character == '\n' || character == '\r';
  return (character < 0x20 && !is_blank) || character == 0xfffe || character == 0xffff;
}

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string printable(std::string_view text) { return shown(text, ""); }

std::string printable_lines(std::string_view text) { return shown(text, "\n\t"); }

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  each_character(text, [&](char32_t character, std::string_view bytes) {
    if (character == '\n') out += "\\n";
    else if (character == '"' || character == '\\') out.append("\\").append(bytes);
    // Two question marks may begin a trigraph.
    else if (character == '?' && out.ends_with('?')) out += "\\?";
    else if (is_printable(character) && !is_damaged(character, bytes)) out += bytes;
    // Three octal digits never take the next character in.
    else
      for (const char byte : bytes)
        out += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  });
  return out + '"';
}

std::string cpp_comment(std::string_view text) {
  std::string out = "// " + shown(text, "\t");
  drop_continuations(out);
  return out;
}

std::string source_name(std::string_view file) {
  std::string name;
  each_character(file, [&](char32_t character, std::string_view bytes) {
    const bool begins_trigraph = character == '?' && name.ends_with('?');
    if (begins_trigraph || ends_name_in_ptx(character, bytes)) name += '_';
    else name += bytes;
  });
  return name;
}

std::string line_directive(int line, std::string_view file) {
  return fmt::format("#line {} \"{}\"\n", line, source_name(file));
}

std::string xml_text(std::string_view text) {
  std::string out;
  each_character(text, [&](char32_t character, std::string_view bytes) {
    if (character == '<') out += "&lt;";
    else if (character == '>') out += "&gt;";
    else if (character == '&') out += "&amp;";
    else if (character == '"') out += "&quot;";
    else if (character == '\'') out += "&#39;";
    else if (is_no_xml(character) || is_damaged(character, bytes)) append_utf8(out, no_character);
    else out += bytes;
  });
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  each_character(text, [&](char32_t character, std::string_view bytes) {
    if (character == '"' || character == '\\') out.append("\\").append(bytes);
    else if (character == '\n') out += "\\n";
    else if (character < 0x20 || character == 0x2028 || character == 0x2029)
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character));
    else append_utf8(out, character);
  });
  return out + '"';
}

// Outside of strings JSON has none of these characters.
std::string json_in_script(std::string_view json) {
  std::string out;
  each_character(json, [&](char32_t character, std::string_view) {
    const bool is_read = character == '<' || character == '>' || character == '&' ||
                         character == 0x2028 || character == 0x2029;
    if (is_read) out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character));
    else append_utf8(out, character);
  });
  return out;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view marks = "\\`*|<>[]~#!";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Inside a word '_' is only a character.
    const bool is_inner =
        i > 0 && i + 1 < text.size() && is_word_byte(text[i - 1]) && is_word_byte(text[i + 1]);
    const bool is_mark = marks.find(c) != std::string_view::npos || (c == '_' && !is_inner);
    if (is_mark) out += '\\';
    if (c == '&') out += "&amp;";
    else out += c;
  }
  return printable(out);
}

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  if (!cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos)
    cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string folded_frame(std::string_view text) {
  std::string out = printable(text);
  std::replace(out.begin(), out.end(), ';', ',');
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain_marks = "_@%+=:,./-";
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_word_byte(c) || plain_marks.find(c) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + '\'';
}

}  // namespace tilewright
