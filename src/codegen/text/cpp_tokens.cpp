// SPDX-License-Identifier: Apache-2.0
// codegen/text/cpp_tokens.cpp — the lexer for C++ and CUDA source.
#include "codegen/text/cpp_tokens.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tilewright {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes of UTF-8 sequences count as letters: C++ allows most of them in names.
bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || byte >= 0x80;
}

bool is_word(char c) { return is_letter(c) || is_digit(c); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

// Longest first. None begins with '>': see the header.
constexpr std::array<std::string_view, 24> punctuators = {
    "<<<", "...", "<<=", "->*", "<=>", "::", "->", "++", "--", "<<", "<=", "==",
    "!=",  "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "##"};

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  std::vector<CppToken> run() {
    while (skip_blank()) next_token();
    return std::move(tokens_);
  }

 private:
  char at(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool starts(std::string_view wanted) const { return text_.substr(position_).starts_with(wanted); }

  void advance(std::size_t count = 1) {
    for (; count > 0 && position_ < text_.size(); --count, ++position_) {
      if (text_[position_] == '\n') {
        ++line_;
        line_begin_ = position_ + 1;
        fresh_line_ = true;
      }
    }
  }

  std::size_t continuation_length() const {
    if (starts("\\\n")) return 2;
    return starts("\\\r\n") ? 3 : 0;
  }

  Span here(int length) const {
    return {line_, static_cast<int>(position_ - line_begin_) + 1, length};
  }

  [[noreturn]] void fail(Span span, std::string message, std::string hint) const {
    throw SyntaxOrTypeError({std::string(name_), span, std::move(message), std::move(hint)}, text_);
  }

  void skip_comment() {
    if (starts("//")) {
      while (position_ < text_.size() && at() != '\n') {
        const bool fresh = fresh_line_;
        advance(std::max<std::size_t>(continuation_length(), 1));
        fresh_line_ = fresh;
      }
      return;
    }
    const std::size_t end = text_.find("*/", position_ + 2);
    if (end == std::string_view::npos)
      fail(here(2), "this comment does not end", "close it with */");
    const bool fresh = fresh_line_;
    advance(end + 2 - position_);
    fresh_line_ = fresh;
  }

  // False at the end of the text.
  bool skip_blank() {
    while (position_ < text_.size()) {
      if (const std::size_t length = continuation_length()) {
        const bool fresh = fresh_line_;
        advance(length);
        fresh_line_ = fresh;
      } else if (is_blank(at()) || at() == '\n') {
        advance();
      } else if (starts("//") || starts("/*")) {
        skip_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  void next_token() {
    using Kind = CppToken::Kind;
    if (at() == '#' && fresh_line_) return directive();
    fresh_line_ = false;
    const std::size_t prefix = string_prefix_length();
    if (at(prefix) == '"') return emit(Kind::String, string_length(prefix));
    if (at(prefix) == '\'') return emit(Kind::Character, quoted_length(prefix));
    if (is_letter(at())) return emit(Kind::Identifier, word_length(0));
    if (is_digit(at()) || (at() == '.' && is_digit(at(1))))
      return emit(Kind::Number, number_length());
    for (std::string_view punctuator : punctuators)
      if (starts(punctuator)) return emit(Kind::Punctuator, punctuator.size());
    emit(Kind::Punctuator, 1);
  }

  void emit(CppToken::Kind kind, std::size_t length) {
    const Span span = here(0);
    tokens_.push_back({kind, text_.substr(position_, length), position_, span.line, span.column});
    const bool fresh = fresh_line_;
    advance(length);
    fresh_line_ = fresh;
  }

  std::size_t word_length(std::size_t from) const {
    std::size_t length = from;
    while (is_word(at(length))) ++length;
    return length;
  }

  // A number as the preprocessor sees it: 1'000u, 0x1.8p-3f, 1.e+5.
  std::size_t number_length() const {
    std::size_t length = 1;
    while (true) {
      const char c = at(length);
      const char last = at(length - 1);
      const bool is_exponent = last == 'e' || last == 'E' || last == 'p' || last == 'P';
      if ((c == '+' || c == '-') && is_exponent) ++length;
      else if (c == '\'' && is_word(at(length + 1))) length += 2;
      else if (is_word(c) || c == '.') ++length;
      else return length;
    }
  }

  // Of an encoding prefix and the R of a raw string, when a quote follows.
  std::size_t string_prefix_length() const {
    const std::size_t length = word_length(0);
    const std::string_view prefix = text_.substr(position_, length);
    for (std::string_view known : {"", "u8", "u", "U", "L"})
      if (prefix == known) return length;
    for (std::string_view known : {"R", "u8R", "uR", "UR", "LR"})
      if (prefix == known && at(length) == '"') return length;
    return 0;
  }

  std::size_t string_length(std::size_t prefix) const {
    if (prefix > 0 && at(prefix - 1) == 'R') return raw_string_length(prefix);
    return quoted_length(prefix);
  }

  std::size_t quoted_length(std::size_t prefix) const {
    const char quote = at(prefix);
    std::size_t length = prefix + 1;
    while (position_ + length < text_.size() && at(length) != '\n') {
      if (at(length) == quote) return word_length(length + 1);
      const bool is_long_escape =
          at(length) == '\\' && at(length + 1) == '\r' && at(length + 2) == '\n';
      length += at(length) == '\\' ? (is_long_escape ? 3 : 2) : 1;
    }
    const char* what = quote == '"' ? "string" : "character";
    fail(here(static_cast<int>(prefix) + 1), fmt::format("this {} does not end on its line", what),
         fmt::format("close it with {}", quote));
  }

  std::size_t raw_string_length(std::size_t prefix) const {
    const std::size_t open = text_.find('(', position_ + prefix);
    if (open != std::string_view::npos && open - position_ - prefix <= 17) {
      const auto delimiter = text_.substr(position_ + prefix + 1, open - position_ - prefix - 1);
      const std::string close = fmt::format("){}\"", delimiter);
      const std::size_t end = text_.find(close, open);
      if (end != std::string_view::npos) return word_length(end + close.size() - position_);
    }
    fail(here(static_cast<int>(prefix) + 1), "this raw string does not end",
         "close it with ), its delimiter and a quote");
  }

  // ---- Preprocessor lines.

  void directive() {
    emit(CppToken::Kind::Directive, directive_length());
    const CppToken& token = tokens_.back();
    if (directive_word(token) != "if") return;
    std::string_view condition = token.text.substr(token.text.find("if") + 2);
    while (!condition.empty() && is_blank(condition.front())) condition.remove_prefix(1);
    if (condition.starts_with('0') && (condition.size() == 1 || !is_word(condition[1])))
      skip_group();
  }

  // Up to the end of the line, over continuation lines and over comments that run on; trailing
  // white space and a final
  // `//` comment are left out.
  std::size_t directive_length() const {
    Lexer ahead(text_, name_);
    ahead.position_ = position_;
    ahead.line_ = line_;
    ahead.line_begin_ = line_begin_;
    std::size_t end = position_;
    while (ahead.position_ < text_.size() && ahead.at() != '\n') {
      if (ahead.starts("//")) break;
      if (const std::size_t length = ahead.continuation_length()) {
        ahead.advance(length);
      } else if (ahead.starts("/*")) {
        ahead.skip_comment();
        end = ahead.position_;
      } else {
        const bool blank = is_blank(ahead.at());
        ahead.advance(ahead.at() == '"' ? ahead.same_line_string_length() : 1);
        if (!blank) end = ahead.position_;
      }
    }
    return end - position_;
  }

  // A string in a directive hides `//`; a lone quote (in #error) is only a character.
  std::size_t same_line_string_length() const {
    for (std::size_t length = 1; position_ + length < text_.size() && at(length) != '\n';
         ++length) {
      if (at(length) == '\\') ++length;
      else if (at(length) == '"') return length + 1;
    }
    return 1;
  }

  // Skips what `#if 0` leaves out, which need not be C++ at all; stops before the #else, #elif or
  // #endif.
  void skip_group() {
    int depth = 0;
    while (true) {
      const std::size_t end = text_.find('\n', position_);
      if (end == std::string_view::npos) return advance(text_.size() - position_);
      advance(end + 1 - position_);
      while (is_blank(at())) advance();
      if (at() != '#') continue;
      const CppToken line{CppToken::Kind::Directive, text_.substr(position_, directive_length()), 0,
                          0, 0};
      const std::string_view word = directive_word(line);
      if (depth == 0 && (word.starts_with("el") || word == "endif")) return;
      depth += word.starts_with("if") ? 1 : 0;
      depth -= word == "endif" ? 1 : 0;
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t position_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;  // only white space and comments stood on this line so far
  std::vector<CppToken> tokens_;
};

// '>' closes '<' only when no other bracket is open in between; a ';' or '{' shows that '<' was a
// comparison.
std::size_t matching_angle(std::span<const CppToken> tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const CppToken& token = tokens[i];
    if (token.is("<")) ++depth;
    else if (token.is(">") && --depth == 0) return i;
    else if (token.is("(") || token.is("[") || token.is("{")) i = matching_bracket(tokens, i);
    else if (token.is(";") || token.is(")") || token.is("]") || token.is("}")) break;
  }
  return tokens.size();
}

// Three '>' next to each other at no depth of other brackets; `>>` inside is a shift or template
// brackets.
std::size_t matching_launch(std::span<const CppToken> tokens, std::size_t open) {
  for (std::size_t i = open + 1; i + 2 < tokens.size(); ++i) {
    const CppToken& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("{")) {
      i = matching_bracket(tokens, i);
      continue;
    }
    if (token.is(";") || token.is(")") || token.is("]") || token.is("}")) break;
    const bool is_close = token.is(">") && tokens[i + 1].is(">") && tokens[i + 2].is(">");
    const bool is_tight =
        tokens[i + 1].offset == token.end() && tokens[i + 2].offset == tokens[i + 1].end();
    const bool more = i + 3 < tokens.size() && tokens[i + 3].is(">") &&
                      tokens[i + 3].offset == tokens[i + 2].end();
    if (is_close && is_tight && !more) return i;
  }
  return tokens.size();
}

}  // namespace

std::vector<CppToken> tokenize_cpp(std::string_view text, std::string_view name) {
  return Lexer(text, name).run();
}

std::size_t matching_bracket(std::span<const CppToken> tokens, std::size_t open) {
  if (open >= tokens.size()) return tokens.size();
  if (tokens[open].is("<")) return matching_angle(tokens, open);
  if (tokens[open].is("<<<")) return matching_launch(tokens, open);
  std::string expected;  // a stack of the brackets still to come
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const CppToken& token = tokens[i];
    if (token.is("(")) expected += ')';
    else if (token.is("[")) expected += ']';
    else if (token.is("{")) expected += '}';
    else if (token.is(")") || token.is("]") || token.is("}")) {
      if (expected.empty() || token.text[0] != expected.back()) break;
      expected.pop_back();
    }
    if (expected.empty()) return token.offset == tokens[open].offset ? tokens.size() : i;
  }
  return tokens.size();
}

std::string join_tokens(std::span<const CppToken> tokens) {
  std::string out;
  const CppToken* last = nullptr;
  for (const CppToken& token : tokens) {
    const bool on_own_line = token.kind == CppToken::Kind::Directive ||
                             (last && last->kind == CppToken::Kind::Directive);
    if (last && on_own_line) out += '\n';
    else if (last && token.offset != last->end()) out += ' ';
    out += token.text;
    last = &token;
  }
  return out;
}

std::string_view directive_word(const CppToken& token) {
  if (token.kind != CppToken::Kind::Directive) return {};
  std::string_view rest = token.text.substr(1);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && is_letter(rest[length])) ++length;
  return rest.substr(0, length);
}

std::string_view included_header(const CppToken& token) {
  const std::string_view word = directive_word(token);
  if (word != "include" && word != "include_next") return {};
  std::string_view rest =
      token.text.substr(static_cast<std::size_t>(word.end() - token.text.begin()));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n\\"), rest.size()));
  if (rest.empty() || (rest[0] != '<' && rest[0] != '"')) return {};
  const std::size_t end = rest.find(rest[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end + 1);
}

}  // namespace tilewright
