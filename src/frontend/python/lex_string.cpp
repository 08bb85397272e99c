// SPDX-License-Identifier: Apache-2.0
// frontend/python/lex_string.cpp — the extent of strings, and f-strings as start, text, fields and
// end.
#include <fmt/format.h>

#include "frontend/python/lexer_state.h"
#include "frontend/python/unicode.h"

namespace tilewright::python {

// Which letters, if any, stand before a quote here.
Lexer::Prefix Lexer::string_prefix() const {
  Prefix prefix;
  bool bytes = false;
  bool unicode = false;
  for (;; ++prefix.length) {
    const char c = peek(prefix.length);
    if (c == '\'' || c == '"') {
      prefix.is_string = true;
      return prefix;
    }
    const char letter = static_cast<char>(c | 0x20);
    const bool first = prefix.length == 0;
    if (letter == 'r' && !prefix.raw && !unicode) prefix.raw = true;
    else if (letter == 'f' && !prefix.formatted && !bytes && !unicode) prefix.formatted = true;
    else if (letter == 'b' && !bytes && !prefix.formatted && !unicode) bytes = true;
    else if (letter == 'u' && first) unicode = true;
    else return prefix;
  }
}

bool Lexer::at_closing_quote(char quote, bool triple) const {
  return peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote));
}

void Lexer::string(const Prefix& prefix) {
  const Mark start = mark();
  advance(prefix.length);
  const char quote = peek();
  const bool triple = peek(1) == quote && peek(2) == quote;
  advance(triple ? 3 : 1);
  if (prefix.formatted) return start_f_string(prefix, start, triple);
  while (!at_closing_quote(quote, triple)) {
    if (at_end() || (peek() == '\n' && !triple)) unterminated(start, triple, false);
    if (peek() == '\\') {
      advance();
      if (at_end()) unterminated(start, triple, false);
    }
    if (peek() == '\n') advance_line();
    else advance();
  }
  advance(triple ? 3 : 1);
  emit(Tok::String, start);
}

void Lexer::unterminated(const Mark& start, bool triple, bool formatted) {
  // Python names the line on which it gave up; after a final line end that is the last line with
  // text.
  const int line = at_end() && at_ > 0 && text_[at_ - 1] == '\n' ? line_ - 1 : line_;
  fail(start, fmt::format("unterminated {}{} literal (detected at line {})",
                          triple ? "triple-quoted " : "", formatted ? "f-string" : "string", line));
}

void Lexer::start_f_string(const Prefix& prefix, const Mark& start, bool triple) {
  if (static_cast<int>(f_strings_.size()) >= max_nested_f_strings)
    fail(start, "too many nested f-strings");
  const char quote = text_[at_ - 1];
  emit(Tok::FStringStart, start);
  f_strings_.push_back({Mode::Text, quote, triple, prefix.raw, brackets_.size(), start});
}

// Text up to the next field or the end of the f-string (of the format, inside a field's format).
void Lexer::f_string_text() {
  const FString now = f_strings_.back();
  const bool in_text = now.mode == Mode::Text;
  const Mark start = mark();
  const auto flush = [&] {
    if (at_ != start.at) emit(Tok::FStringMiddle, start);
  };
  while (true) {
    const bool closing = at_closing_quote(now.quote, now.triple);
    if (closing && in_text) {
      flush();
      const Mark quote = mark();
      advance(now.triple ? 3 : 1);
      emit(Tok::FStringEnd, quote);
      f_strings_.pop_back();
      return;
    }
    if (closing) fail(mark(), "f-string: expecting '}'");
    const char c = peek();
    if (at_end() || (c == '\n' && !now.triple)) unterminated(now.start, now.triple, true);
    if (in_text && (c == '{' || c == '}') && peek(1) == c) {
      advance(2);
    } else if (c == '{') {
      flush();
      return open_field();
    } else if (c == '}') {
      if (in_text) fail(mark(), "f-string: single '}' is not allowed");
      flush();
      return close_field();
    } else if (c == '\n') {
      advance_line();
    } else if (c == '\\' && !now.raw && peek(1) == 'N' && peek(2) == '{') {
      advance(3);
      while (!at_end() && peek() != '}' && peek() != '\n' && peek() != now.quote) advance();
      if (peek() == '}') advance();
    } else if (c == '\\' && peek(1) != '{' && peek(1) != '}') {
      advance();
      if (peek() == '\n') advance_line();
      else if (!at_end()) advance();
    } else {
      advance();
    }
  }
}

void Lexer::open_field() {
  const Mark start = mark();
  if (static_cast<int>(f_strings_.size()) >= max_nested_f_strings)
    fail(start, "f-string: expressions nested too deeply");
  FString field = f_strings_.back();
  open_bracket('{');
  advance();
  emit(Tok::LeftBrace, start);
  field.mode = Mode::Field;
  field.brackets = brackets_.size();
  f_strings_.push_back(field);
}

void Lexer::close_field() {
  const Mark start = mark();
  advance();
  emit(Tok::RightBrace, start);
  brackets_.pop_back();
  f_strings_.pop_back();
}

}  // namespace tilewright::python
