// SPDX-License-Identifier: Apache-2.0
// frontend/python/lexer.cpp — lines, indentation, names, operators and brackets.
#include "frontend/python/lexer.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "frontend/python/lexer_state.h"
#include "frontend/python/unicode.h"

namespace tilewright::python {
namespace {

struct Spelling {
  std::string_view text;
  Tok kind;
};

constexpr Spelling operators[] = {
#define TOKEN(enumerator, name)
#define OPERATOR(enumerator, text) {text, Tok::enumerator},
#define KEYWORD(enumerator, text)
#include "frontend/python/tokens.def"
#undef TOKEN
#undef OPERATOR
#undef KEYWORD
};

const std::unordered_map<std::string_view, Tok>& keywords() {
  static const std::unordered_map<std::string_view, Tok> map = {
#define TOKEN(enumerator, name)
#define OPERATOR(enumerator, text)
#define KEYWORD(enumerator, text) {text, Tok::enumerator},
#include "frontend/python/tokens.def"
#undef TOKEN
#undef OPERATOR
#undef KEYWORD
  };
  return map;
}

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The way out of the lexer at the first error; tokenize() keeps what came before it.
struct Stop {};

constexpr int tab_width = 8;

}  // namespace

std::string describe(Tok kind) {
  switch (kind) {
#define TOKEN(enumerator, name) \
  case Tok::enumerator:         \
    return name;
#define OPERATOR(enumerator, text) \
  case Tok::enumerator:            \
    return "'" text "'";
#define KEYWORD(enumerator, text) OPERATOR(enumerator, text)
#include "frontend/python/tokens.def"
#undef TOKEN
#undef OPERATOR
#undef KEYWORD
  }
  return {};
}

std::string_view name_of(Tok kind) {
  switch (kind) {
#define TOKEN(enumerator, name) \
  case Tok::enumerator:         \
    return #enumerator;
#define OPERATOR(enumerator, text) TOKEN(enumerator, text)
#define KEYWORD(enumerator, text) TOKEN(enumerator, text)
#include "frontend/python/tokens.def"
#undef TOKEN
#undef OPERATOR
#undef KEYWORD
  }
  return {};
}

Tokens tokenize(const Source& source) { return Lexer(source).run(); }

Tokens Lexer::run() {
  tokens_.list.reserve(text_.size() / 4 + 8);
  try {
    while (tokens_.list.empty() || tokens_.list.back().kind != Tok::End) next_token();
  } catch (const Stop&) {
    const Span span = tokens_.error->span;
    tokens_.list.push_back({Tok::Error, span, span.line, span.column, {}});
  }
  return std::move(tokens_);
}

void Lexer::next_token() {
  if (!f_strings_.empty() && f_strings_.back().mode != Mode::Field) return f_string_text();
  if (line_start_) begin_line();
  skip_blanks();
  if (at_end()) return end_of_file();
  const char c = peek();
  if (c == '\n') return end_of_line();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  const Prefix prefix = string_prefix();
  if (prefix.is_string) return string(prefix);
  if (starts_name(c)) return name_or_keyword();
  operator_or_bracket();
}

// Measures the indentation of the next line that holds code; empty lines and comments have none.
void Lexer::begin_line() {
  line_start_ = false;
  while (true) {
    const Indentation found = measure_indentation();
    if (peek() == '#')
      while (!at_end() && peek() != '\n') advance();
    if (at_end()) return;
    if (peek() != '\n') return change_indentation(found);
    advance_line();
  }
}

Lexer::Indentation Lexer::measure_indentation() {
  Indentation found;
  Indentation before_join;  // the indentation of a line that starts with a joining backslash counts
  while (true) {
    const char c = peek();
    if (c == ' ') {
      ++found.columns;
      ++found.characters;
    } else if (c == '\t') {
      found.columns = (found.columns / tab_width + 1) * tab_width;
      ++found.characters;
    } else if (c == '\f') {
      found = {};
    } else if (c == '\\' && peek(1) == '\n') {
      if (before_join.characters == 0) before_join = found;
      found = {};
      advance();
      advance_line();
      continue;
    } else {
      return before_join.characters != 0 ? before_join : found;
    }
    advance();
  }
}

void Lexer::change_indentation(Indentation found) {
  const auto mixed = [&] {
    fail(mark(), "inconsistent use of tabs and spaces in indentation", 1,
         "indent with spaces only");
  };
  const auto level = [this] { return indents_.back(); };
  if (found.columns == level().columns) {
    if (found.characters != level().characters) mixed();
    return;
  }
  if (found.columns > level().columns) {
    if (found.characters <= level().characters) mixed();
    if (static_cast<int>(indents_.size()) >= max_indentation_levels)
      fail(mark(), "too many levels of indentation");
    indents_.push_back(found);
    return emit(Tok::Indent, mark());
  }
  while (indents_.size() > 1 && found.columns < level().columns) {
    indents_.pop_back();
    emit(Tok::Dedent, mark());
  }
  if (found.columns != level().columns)
    fail(mark(), "unindent does not match any outer indentation level");
  if (found.characters != level().characters) mixed();
}

// Spaces, comments, joined lines, and line ends inside brackets.
void Lexer::skip_blanks() {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\f') {
      advance();
    } else if (c == '#') {
      while (!at_end() && peek() != '\n') advance();
    } else if (c == '\n' && !brackets_.empty()) {
      advance_line();
    } else if (c == '\\') {
      const Mark start = mark();
      advance();
      if (at_end()) fail(start, "unexpected end of file after a line continuation character");
      if (peek() != '\n') fail(start, "unexpected character after line continuation character");
      advance_line();
      if (at_end()) fail(start, "unexpected end of file after a line continuation character");
    } else {
      return;
    }
  }
}

void Lexer::end_of_line() {
  const Mark start = mark();
  advance();
  // A line that began with a join may turn out to be blank: it ends no statement.
  const bool has_code = !tokens_.list.empty() && tokens_.list.back().kind != Tok::Newline &&
                        tokens_.list.back().kind != Tok::Indent &&
                        tokens_.list.back().kind != Tok::Dedent;
  if (has_code) {
    emit(Tok::Newline, start);
    tokens_.list.back().end_line = start.line;
    tokens_.list.back().end_column = start.column + 1;
  }
  ++line_;
  counted_ = at_;
  column_ = 1;
  line_start_ = true;
}

void Lexer::end_of_file() {
  if (!brackets_.empty()) {
    const Bracket& open = brackets_.back();
    tokens_.error = LexError{{open.mark.line, open.mark.column, 1},
                             fmt::format("'{}' was never closed", open.symbol),
                             {},
                             true};
    throw Stop{};
  }
  const Mark end = mark();
  if (!tokens_.list.empty() && tokens_.list.back().kind != Tok::Newline &&
      tokens_.list.back().kind != Tok::Dedent)
    emit(Tok::Newline, end);
  for (; indents_.size() > 1; indents_.pop_back()) emit(Tok::Dedent, end);
  emit(Tok::End, end);
}

void Lexer::name_or_keyword() {
  const Mark start = mark();
  while (starts_name(peek()) || is_digit(peek())) {
    if (static_cast<unsigned char>(peek()) < 0x80) {
      advance();
      continue;
    }
    const CodePoint point = decode_utf8(text_.substr(at_));
    if (!is_letter(point.value)) {
      if (at_ == start.at) bad_character();
      break;
    }
    advance(point.bytes);
  }
  const auto keyword = keywords().find(text_.substr(start.at, at_ - start.at));
  emit(keyword == keywords().end() ? Tok::Name : keyword->second, start);
}

void Lexer::bad_character() {
  const Mark place = mark();
  const CodePoint point = decode_utf8(text_.substr(at_));
  const auto code = static_cast<std::uint32_t>(point.value);
  if (!is_printable(point.value))
    fail(place, fmt::format("invalid non-printable character U+{:04X}", code));
  fail(place,
       fmt::format("invalid character '{}' (U+{:04X})", text_.substr(at_, point.bytes), code));
}

void Lexer::operator_or_bracket() {
  const Mark start = mark();
  // In a replacement field ':' begins the format even before '='.
  if (peek() == ':' && in_field()) {
    advance();
    emit(Tok::Colon, start);
    f_strings_.back().mode = Mode::Specification;
    return;
  }
  const std::string_view rest = text_.substr(at_);
  for (const Spelling& spelling : operators) {
    if (!rest.starts_with(spelling.text)) continue;
    if (spelling.kind == Tok::Exclamation && !in_field()) break;
    const char c = spelling.text[0];
    const bool single = spelling.text.size() == 1;
    if (single && c == '}' && in_field()) return close_field();
    if (single && (c == '(' || c == '[' || c == '{')) open_bracket(c);
    if (single && (c == ')' || c == ']' || c == '}')) close_bracket(c);
    advance(spelling.text.size());
    return emit(spelling.kind, start);
  }
  const auto byte = static_cast<unsigned char>(peek());
  if (byte < 0x20 || byte >= 0x7f) bad_character();
  fail(start, "invalid syntax");
}

void Lexer::open_bracket(char symbol) {
  if (static_cast<int>(brackets_.size()) >= max_open_brackets)
    fail(mark(), "too many nested parentheses", 1,
         fmt::format("at most {} brackets may be open", max_open_brackets));
  brackets_.push_back({symbol, mark()});
}

void Lexer::close_bracket(char symbol) {
  const char wanted = symbol == ')' ? '(' : symbol == ']' ? '[' : '{';
  const std::size_t own = f_strings_.empty() ? 0 : f_strings_.back().brackets;
  if (brackets_.size() <= own) {
    if (own != 0) fail(mark(), fmt::format("f-string: unmatched '{}'", symbol));
    fail(mark(), fmt::format("unmatched '{}'", symbol));
  }
  const Bracket open = brackets_.back();
  if (open.symbol != wanted) {
    std::string message = fmt::format(
        "closing parenthesis '{}' does not match opening parenthesis '{}'", symbol, open.symbol);
    if (open.mark.line != line_) message += fmt::format(" on line {}", open.mark.line);
    fail(mark(), message);
  }
  brackets_.pop_back();
}

void Lexer::advance_line() {
  ++at_;
  ++line_;
  counted_ = at_;
  column_ = 1;
}

Lexer::Mark Lexer::mark() {
  column_ += count_characters(text_.substr(counted_, at_ - counted_));
  counted_ = at_;
  return {at_, line_, column_};
}

void Lexer::emit(Tok kind, const Mark& start) {
  const Mark end = mark();
  Token token{kind,
              {start.line, start.column, 0},
              end.line,
              end.column,
              text_.substr(start.at, end.at - start.at)};
  token.span.length = start.line == end.line
                          ? end.column - start.column
                          : count_characters(token.text.substr(0, token.text.find('\n')));
  tokens_.list.push_back(token);
}

void Lexer::fail(const Mark& start, std::string message, int length, std::string hint) {
  tokens_.error =
      LexError{{start.line, start.column, length}, std::move(message), std::move(hint), false};
  throw Stop{};
}

}  // namespace tilewright::python
