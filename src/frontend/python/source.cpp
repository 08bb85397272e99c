// SPDX-License-Identifier: Apache-2.0
// frontend/python/source.cpp — decoding of Python files with the place of each bad byte.
#include "frontend/python/source.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/input_file.h"
#include "base/units.h"
#include "frontend/python/unicode.h"

namespace tilewright::python {
namespace {

constexpr std::string_view utf8_hint = "save the file as UTF-8";

void refuse_large(const std::string& file, std::size_t size) {
  if (size <= max_source_bytes) return;
  throw ArgumentError(
      fmt::format("{}: the file has {}, and Python files over {} are not read; keep the kernels in "
                  "a file of their own",
                  file, format_bytes(size), format_bytes(max_source_bytes)));
}

void refuse_utf16(const std::string& file, std::string_view bytes) {
  if (!bytes.starts_with("\xff\xfe") && !bytes.starts_with("\xfe\xff")) return;
  throw SyntaxOrTypeError({file, {}, "the file is UTF-16, not UTF-8", std::string(utf8_hint)}, {});
}

// '\r\n' and a lone '\r' end a line as '\n' does.
std::string unify_line_ends(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + 1);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != '\r') {
      text += bytes[at];
      continue;
    }
    text += '\n';
    if (at + 1 < bytes.size() && bytes[at + 1] == '\n') ++at;
  }
  return text;
}

Span span_of_byte(std::string_view text, std::size_t at) {
  Span span{1, 1, 1};
  for (std::size_t i = 0; i < at; ++i) {
    if (text[i] == '\n') {
      ++span.line;
      span.column = 1;
    } else if (!is_continuation(text[i])) {
      ++span.column;
    }
  }
  return span;
}

[[noreturn]] void fail_at_byte(const Source& source, std::size_t at) {
  const auto byte = static_cast<unsigned char>(source.text[at]);
  Source shown{source.file, source.text};
  for (char& c : shown.text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';  // a message must itself be UTF-8
  const Span span = span_of_byte(source.text, at);
  if (byte == 0) fail_at(shown, span, "source code cannot contain null bytes");
  fail_at(shown, span, fmt::format("byte 0x{:02x} is not valid UTF-8", byte),
          std::string(utf8_hint));
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\f'; }

// The name in a `# -*- coding: name -*-` comment on this line, or nothing.
std::string_view coding_of(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && is_space(line[at])) ++at;
  if (at == line.size() || line[at] != '#') return {};
  at = line.find("coding", at);
  if (at == std::string_view::npos || at + 7 > line.size()) return {};
  at += 6;
  if (line[at] != ':' && line[at] != '=') return {};
  ++at;
  while (at < line.size() && is_space(line[at])) ++at;
  std::size_t end = at;
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  while (end < line.size() && belongs(line[end])) ++end;
  return line.substr(at, end - at);
}

bool is_utf8_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain == "utf-8" || plain == "utf8" || plain == "ascii" || plain == "us-ascii" ||
         plain.starts_with("utf-8-");
}

// A file that declares another encoding is read all the same when only ASCII is in it.
void check_declared_encoding(const Source& source) {
  for (int number = 1; number <= 2; ++number) {
    const std::string_view line = line_of(source.text, number);
    const std::string_view name = coding_of(line);
    if (name.empty() || is_utf8_name(name)) continue;
    for (const char c : source.text) {
      if (static_cast<unsigned char>(c) < 0x80) continue;
      const auto column = static_cast<int>(name.data() - line.data()) + 1;
      Source shown = source;
      for (char& byte : shown.text)
        if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';
      fail_at(shown, {number, column, static_cast<int>(name.size())},
              fmt::format("the encoding '{}' is not read", name), std::string(utf8_hint));
    }
  }
}

void check_bytes(const Source& source) {
  std::size_t at = 0;
  while (at < source.text.size()) {
    const auto byte = static_cast<unsigned char>(source.text[at]);
    if (byte == 0) fail_at_byte(source, at);
    if (byte < 0x80) {
      ++at;
      continue;
    }
    const CodePoint point = decode_utf8(std::string_view(source.text).substr(at));
    if (point.bytes == 0) fail_at_byte(source, at);
    at += point.bytes;
  }
}

}  // namespace

void fail_at(const Source& source, Span span, std::string message, std::string hint) {
  throw SyntaxOrTypeError({source.file, span, std::move(message), std::move(hint)}, source.text);
}

Source make_source(std::string file, std::string_view bytes) {
  refuse_large(file, bytes.size());
  refuse_utf16(file, bytes);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  Source source{std::move(file), unify_line_ends(bytes)};
  check_declared_encoding(source);
  check_bytes(source);
  return source;
}

Source read_source(const std::string& path) {
  const std::string bytes = read_input(path, max_source_bytes + 1);
  if (bytes.size() > max_source_bytes) {
    std::error_code unknown;  // of a pipe
    const auto size = std::filesystem::file_size(path, unknown);
    refuse_large(path, unknown ? bytes.size() : size);
  }
  return make_source(path, bytes);
}

}  // namespace tilewright::python
