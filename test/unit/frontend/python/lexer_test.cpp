// SPDX-License-Identifier: Apache-2.0
// frontend/python/lexer_test.cpp — token kinds, their places, indentation, f-strings.
#include "frontend/python/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::python {
namespace {

// "Name x, Equal, Number 1": kinds with the text of names, numbers and strings.
std::string kinds(const std::string& text) {
  const Source source = make_source("t.py", text);
  const Tokens tokens = tokenize(source);
  std::string out;
  for (const Token& token : tokens.list) {
    if (!out.empty()) out += ", ";
    out += name_of(token.kind);
    const bool shown = token.kind == Tok::Name || token.kind == Tok::Number ||
                       token.kind == Tok::String || token.kind == Tok::FStringMiddle;
    if (shown) out += " " + std::string(token.text);
  }
  return out;
}

std::string error(const std::string& text) {
  const Source source = make_source("t.py", text);
  const Tokens tokens = tokenize(source);
  if (!tokens.error) return "none";
  EXPECT_EQ(tokens.list.back().kind, Tok::Error);
  return fmt::format("{}:{}: {}", tokens.error->span.line, tokens.error->span.column,
                     tokens.error->message);
}

Token token(const std::string& text, std::size_t index) {
  static Source source;  // keeps the text that the token views
  source = make_source("t.py", text);
  return tokenize(source).list.at(index);
}

TEST(PythonLexer, EmptyFileIsOnlyTheEnd) {
  EXPECT_EQ(kinds(""), "End");
  EXPECT_EQ(kinds("\n\n  # only a comment\n"), "End");
}

TEST(PythonLexer, LineEndsAndMissingLastOne) {
  EXPECT_EQ(kinds("a\nb"), "Name a, Newline, Name b, Newline, End");
  EXPECT_EQ(kinds("a\r\nb\rc\n"), "Name a, Newline, Name b, Newline, Name c, Newline, End");
}

TEST(PythonLexer, Indentation) {
  EXPECT_EQ(kinds("if a:\n  b\n\n  # c\n  d\ne\n"),
            "If, Name a, Colon, Newline, Indent, Name b, Newline, Name d, Newline, Dedent, Name e, "
            "Newline, End");
  EXPECT_EQ(kinds("if a:\n  if b:\n    c"),
            "If, Name a, Colon, Newline, Indent, If, Name b, Colon, Newline, Indent, Name c, "
            "Newline, Dedent, "
            "Dedent, End");
}

TEST(PythonLexer, LineJoining) {
  EXPECT_EQ(kinds("a = (1,\n\n # c\n 2)\n"),
            "Name a, Equal, LeftParen, Number 1, Comma, Number 2, RightParen, Newline, End");
  EXPECT_EQ(kinds("a = 1 + \\\n  2\n"), "Name a, Equal, Number 1, Plus, Number 2, Newline, End");
}

TEST(PythonLexer, FormFeedStartsTheLineAnew) {
  EXPECT_EQ(kinds("a\n\f\nb\n  \fc\n"), "Name a, Newline, Name b, Newline, Name c, Newline, End");
}

TEST(PythonLexer, TabsCountToTheNextEighthColumn) {
  EXPECT_EQ(kinds("if a:\n\tb\n\tc\n"),
            "If, Name a, Colon, Newline, Indent, Name b, Newline, Name c, Newline, Dedent, End");
  EXPECT_EQ(error("if a:\n\tb\n        c\n"),
            "3:9: inconsistent use of tabs and spaces in indentation");
  EXPECT_EQ(error("if a:\n  b\n c\n"), "3:2: unindent does not match any outer indentation level");
}

TEST(PythonLexer, LongestOperatorWins) {
  EXPECT_EQ(kinds("a **= b // c -> d := e ... != <<= @="),
            "Name a, StarStarEqual, Name b, SlashSlash, Name c, Arrow, Name d, ColonEqual, Name e, "
            "Ellipsis, "
            "NotEqual, LeftShiftEqual, AtEqual, Newline, End");
}

TEST(PythonLexer, Numbers) {
  for (const char* number : {"0", "1_000", "0xFF_ff", "0o17", "0b1_0", "1.", ".5", "1e5", "1.5E-3",
                             "1_0.0_1e+1_0", "3j", "1.5J", "00", "01.5", "09e1"})
    EXPECT_EQ(kinds(number), fmt::format("Number {}, Newline, End", number));
  EXPECT_EQ(kinds("1if x else 2"), "Number 1, If, Name x, Else, Number 2, Newline, End");
  EXPECT_EQ(
      kinds("x[1:2].y"),
      "Name x, LeftBracket, Number 1, Colon, Number 2, RightBracket, Dot, Name y, Newline, End");
}

TEST(PythonLexer, BadNumbers) {
  EXPECT_EQ(error("x = 1abc"), "1:5: invalid decimal literal");
  EXPECT_EQ(error("x = 1__0"), "1:5: invalid decimal literal");
  EXPECT_EQ(error("x = 1_"), "1:5: invalid decimal literal");
  EXPECT_EQ(error("x = 0x"), "1:5: invalid hexadecimal literal");
  EXPECT_EQ(error("x = 0o18"), "1:8: invalid digit '8' in octal literal");
  EXPECT_EQ(error("x = 0b12"), "1:8: invalid digit '2' in binary literal");
  EXPECT_EQ(error("x = 012"),
            "1:5: leading zeros in decimal integer literals are not permitted; use an 0o prefix "
            "for octal "
            "integers");
  EXPECT_EQ(error("x = 1jx"), "1:5: invalid imaginary literal");
}

TEST(PythonLexer, Strings) {
  for (const char* string :
       {"''", "'a\\'b'", "\"x\"", "r'\\'", "b'x'", "Rb'x'", "bR'x'", "u'x'", "'''a\n'b'''"}) {
    if (std::string(string) == "r'\\'")
      continue;  // a backslash escapes the quote even in a raw string
    EXPECT_EQ(kinds(string), fmt::format("String {}, Newline, End", string));
  }
  EXPECT_EQ(kinds("rf''"), "FStringStart, FStringEnd, Newline, End");
  EXPECT_EQ(kinds("bu''"), "Name bu, String '', Newline, End");
}

TEST(PythonLexer, UnterminatedStringsAreReportedAtTheirStart) {
  EXPECT_EQ(error("x = 'abc\ny = 1\n"), "1:5: unterminated string literal (detected at line 1)");
  EXPECT_EQ(error("x = '''abc\n\ny\n"),
            "1:5: unterminated triple-quoted string literal (detected at line 3)");
  EXPECT_EQ(error("x = r'\\'"), "1:5: unterminated string literal (detected at line 1)");
  EXPECT_EQ(error("x = f'abc\n"), "1:5: unterminated f-string literal (detected at line 1)");
  EXPECT_EQ(error("x = f'''a{b}\n"),
            "1:5: unterminated triple-quoted f-string literal (detected at line 1)");
}

TEST(PythonLexer, FStringsAreTakenApart) {
  EXPECT_EQ(kinds("f'a{b}c'"),
            "FStringStart, FStringMiddle a, LeftBrace, Name b, RightBrace, FStringMiddle c, "
            "FStringEnd, Newline, End");
  EXPECT_EQ(kinds("f'{{{a}}}'"),
            "FStringStart, FStringMiddle {{, LeftBrace, Name a, RightBrace, FStringMiddle }}, "
            "FStringEnd, Newline, "
            "End");
  EXPECT_EQ(kinds("f'{a!r:>{w}.2f}'"),
            "FStringStart, LeftBrace, Name a, Exclamation, Name r, Colon, FStringMiddle >, "
            "LeftBrace, Name w, "
            "RightBrace, FStringMiddle .2f, RightBrace, FStringEnd, Newline, End");
  EXPECT_EQ(
      kinds("f'{x != y}'"),
      "FStringStart, LeftBrace, Name x, NotEqual, Name y, RightBrace, FStringEnd, Newline, End");
  EXPECT_EQ(kinds("f'{d['k']}'"),  // the same quotes inside, as Python 3.12 allows
            "FStringStart, LeftBrace, Name d, LeftBracket, String 'k', RightBracket, RightBrace, "
            "FStringEnd, "
            "Newline, End");
  EXPECT_EQ(kinds("f'{f'{a}'}'"),
            "FStringStart, LeftBrace, FStringStart, LeftBrace, Name a, RightBrace, FStringEnd, "
            "RightBrace, "
            "FStringEnd, Newline, End");
  EXPECT_EQ(kinds("f'{a[1:2]}{ {1:2} }'"),
            "FStringStart, LeftBrace, Name a, LeftBracket, Number 1, Colon, Number 2, "
            "RightBracket, RightBrace, "
            "LeftBrace, LeftBrace, Number 1, Colon, Number 2, RightBrace, RightBrace, FStringEnd, "
            "Newline, End");
}

TEST(PythonLexer, BadFStrings) {
  EXPECT_EQ(error("f'}'"), "1:3: f-string: single '}' is not allowed");
  EXPECT_EQ(error("f'{a)}'"), "1:5: f-string: unmatched ')'");
  EXPECT_EQ(error("f'{a:x'"), "1:7: f-string: expecting '}'");
  EXPECT_EQ(error("f'{a"), "1:3: '{' was never closed");
}

TEST(PythonLexer, Brackets) {
  EXPECT_EQ(error("a = (1,\nb = 2\n"), "1:5: '(' was never closed");
  EXPECT_EQ(error("a = 1)\n"), "1:6: unmatched ')'");
  EXPECT_EQ(error("a = (1]\n"),
            "1:7: closing parenthesis ']' does not match opening parenthesis '('");
  EXPECT_EQ(error("a = (\n1]\n"),
            "2:2: closing parenthesis ']' does not match opening parenthesis '(' on line 1");
}

TEST(PythonLexer, NestingLimits) {
  EXPECT_EQ(error(std::string(200, '(')), "1:200: '(' was never closed");
  EXPECT_EQ(error(std::string(100000, '(')), "1:201: too many nested parentheses");
  std::string deep;
  for (int level = 0; level <= 100; ++level) deep += std::string(level, ' ') + "if x:\n";
  EXPECT_EQ(error(deep), "101:101: too many levels of indentation");
  std::string fields;
  for (int level = 0; level < 1000; ++level) fields += "f'{";
  EXPECT_EQ(error(fields), "1:226: too many nested f-strings");
}

TEST(PythonLexer, StrayCharacters) {
  EXPECT_EQ(error("a ? b"), "1:3: invalid syntax");
  EXPECT_EQ(error("a $ b"), "1:3: invalid syntax");
  EXPECT_EQ(error("a ! b"), "1:3: invalid syntax");
  EXPECT_EQ(error("x = “a”"), "1:5: invalid character '“' (U+201C)");
  EXPECT_EQ(error("x = \xc2\xa0"
                  "1"),
            "1:5: invalid non-printable character U+00A0");
  EXPECT_EQ(error("x = \x01"), "1:5: invalid non-printable character U+0001");
  EXPECT_EQ(error("a \\ b"), "1:3: unexpected character after line continuation character");
  EXPECT_EQ(error("a \\"), "1:3: unexpected end of file after a line continuation character");
}

TEST(PythonLexer, ColumnsCountCharacters) {
  const Token name = token("'äöü' + größe * x\n", 2);
  EXPECT_EQ(name.text, "größe");
  EXPECT_EQ(name.span.line, 1);
  EXPECT_EQ(name.span.column, 9);
  EXPECT_EQ(name.span.length, 5);
  EXPECT_EQ(name.end_column, 14);
  EXPECT_EQ(token("'äöü' + größe * x\n", 4).span.column, 17);
}

TEST(PythonLexer, PlacesOfTokensOverSeveralLines) {
  const Token string = token("x = '''ab\ncd'''; y\n", 2);
  EXPECT_EQ(string.span.line, 1);
  EXPECT_EQ(string.span.column, 5);
  EXPECT_EQ(string.span.length, 5);
  EXPECT_EQ(string.end_line, 2);
  EXPECT_EQ(string.end_column, 6);
  const Token after = token("x = '''ab\ncd'''; y\n", 4);
  EXPECT_EQ(after.span.line, 2);
  EXPECT_EQ(after.span.column, 8);
}

TEST(PythonLexer, OneLongLineTakesLinearTime) {
  std::string text = "x = [";
  for (int i = 0; i < 200000; ++i) text += "1, ";
  text += "]\n";
  const Source source = make_source("t.py", text);
  const Tokens tokens = tokenize(source);
  ASSERT_FALSE(tokens.error);
  EXPECT_EQ(tokens.list.size(), 400006U);
  EXPECT_EQ(tokens.list[tokens.list.size() - 3].span.column, 600006);
}

}  // namespace
}  // namespace tilewright::python
