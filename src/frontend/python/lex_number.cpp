// SPDX-License-Identifier: Apache-2.0
// frontend/python/lex_number.cpp — the extent of a number; its value is read by the parser
// (literals.h).
#include <array>

#include <fmt/format.h>

#include "frontend/python/lexer_state.h"
#include "frontend/python/unicode.h"

namespace tilewright::python {
namespace {

bool is_digit_of(char c, int base) {
  if (base <= 10) return c >= '0' && c < '0' + base;
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool continues_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void Lexer::number() {
  const char marker = static_cast<char>(peek(1) | 0x20);
  if (peek() == '0' && marker == 'x') return based_number(16, "hexadecimal");
  if (peek() == '0' && marker == 'o') return based_number(8, "octal");
  if (peek() == '0' && marker == 'b') return based_number(2, "binary");

  const Mark start = mark();
  if (peek() != '.') digits(start, "decimal");
  const std::string_view whole = text_.substr(start.at, at_ - start.at);
  bool is_integer = !fraction_and_exponent(start);
  std::string_view name = "decimal";
  if (peek() == 'j' || peek() == 'J') {
    advance();
    is_integer = false;
    name = "imaginary";
  }
  check_leading_zero(start, whole, is_integer);
  check_number_end(start, name);
  emit(Tok::Number, start);
}

// Digits with single underscores between them.
void Lexer::digits(const Mark& start, std::string_view name) {
  while (true) {
    if (!is_digit(peek())) fail(start, fmt::format("invalid {} literal", name));
    while (is_digit(peek())) advance();
    if (peek() != '_') return;
    advance();
  }
}

// True when either was there.
bool Lexer::fraction_and_exponent(const Mark& start) {
  bool found = false;
  if (peek() == '.') {
    found = true;
    advance();
    if (is_digit(peek())) digits(start, "decimal");
  }
  if (peek() != 'e' && peek() != 'E') return found;
  const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
  if (!is_digit(peek(1 + sign))) return found;  // `1else` and `1e` are judged where the number ends
  advance(1 + sign);
  digits(start, "decimal");
  return true;
}

void Lexer::based_number(int base, std::string_view name) {
  const Mark start = mark();
  advance(2);
  do {
    if (peek() == '_') advance();
    if (is_digit(peek()) && !is_digit_of(peek(), base))
      fail(mark(), fmt::format("invalid digit '{}' in {} literal", peek(), name));
    if (!is_digit_of(peek(), base)) fail(start, fmt::format("invalid {} literal", name));
    while (is_digit_of(peek(), base)) advance();
  } while (peek() == '_');
  if (is_digit(peek())) fail(mark(), fmt::format("invalid digit '{}' in {} literal", peek(), name));
  check_number_end(start, name);
  emit(Tok::Number, start);
}

void Lexer::check_leading_zero(const Mark& start, std::string_view whole, bool is_integer) {
  if (!is_integer || whole.size() < 2 || whole[0] != '0') return;
  if (whole.find_first_not_of("0_") == std::string_view::npos) return;
  fail(start,
       "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal "
       "integers",
       static_cast<int>(whole.size()));
}

// A name may not follow a number at once, but for the keywords that may follow an expression: `1if
// x else 2`.
void Lexer::check_number_end(const Mark& start, std::string_view name) {
  if (!continues_name(peek())) return;
  static constexpr std::array<std::string_view, 8> may_follow = {"and", "else", "for", "if",
                                                                 "in",  "is",   "not", "or"};
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view keyword : may_follow)
    if (rest.starts_with(keyword)) return;
  if (static_cast<unsigned char>(peek()) >= 0x80 && !is_letter(decode_utf8(rest).value)) return;
  const auto length = static_cast<int>(at_ - start.at);
  fail(start, fmt::format("invalid {} literal", name), length);
}

}  // namespace tilewright::python
