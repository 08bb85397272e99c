// SPDX-License-Identifier: Apache-2.0
// frontend/python/parser_error_test.cpp — each syntax error has Python's words and the right place.
#include "frontend/python/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::python {
namespace {

std::string error(const std::string& text) {
  try {
    parse(make_source("t.py", text));
  } catch (const SyntaxOrTypeError& problem) {
    const Diagnostic& diagnostic = problem.diagnostic();
    return fmt::format("{}:{}: {}", diagnostic.span.line, diagnostic.span.column,
                       diagnostic.message);
  }
  return "none";
}

std::string rendered(const std::string& text) {
  try {
    parse(make_source("t.py", text));
  } catch (const SyntaxOrTypeError& problem) {
    return problem.what();
  }
  return "none";
}

struct Case {
  const char* text;
  const char* message;
};

TEST(PythonParserErrors, MatchPythons) {
  const Case cases[] = {
      {"if x\n  y\n", "1:5: expected ':'"},
      {"def f()\n  pass\n", "1:8: expected ':'"},
      {"class A\n  pass\n", "1:8: expected ':'"},
      {"else:\n  pass\n", "1:1: invalid syntax"},
      {"if x y:\n  z\n", "1:6: invalid syntax"},
      {"if x = 1:\n  y\n", "1:4: invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
      {"if x:\ny\n", "2:1: expected an indented block after 'if' statement on line 1"},
      {"def f(x):\nreturn 1\n",
       "2:1: expected an indented block after function definition on line 1"},
      {"for x in y:\nz\n", "2:1: expected an indented block after 'for' statement on line 1"},
      {"try:\n  x\nelse:\n  y\n", "3:1: expected 'except' or 'finally' block"},
      {"try:\n  x\ny\n", "3:1: expected 'except' or 'finally' block"},
      {"  x\n", "1:3: unexpected indent"},
      {"x = 1\n  y = 2\n", "2:3: unexpected indent"},
      {"f() = 1\n",
       "1:1: cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"1 = x\n", "1:1: cannot assign to literal here. Maybe you meant '==' instead of '='?"},
      {"a + b = c\n",
       "1:1: cannot assign to expression here. Maybe you meant '==' instead of '='?"},
      {"(a, 1) = b\n", "1:5: cannot assign to literal"},
      {"None = 1\n", "1:1: cannot assign to None"},
      {"f() += 1\n", "1:1: 'function call' is an illegal expression for augmented assignment"},
      {"(a, b) += 1\n", "1:1: 'tuple' is an illegal expression for augmented assignment"},
      {"(a, b): int\n", "1:1: only single target (not tuple) can be annotated"},
      {"f(): int = 1\n", "1:1: illegal target for annotation"},
      {"del f()\n", "1:5: cannot delete function call"},
      {"for f() in x: pass\n", "1:5: cannot assign to function call"},
      {"with a as 1: pass\n", "1:11: cannot assign to literal"},
      {"(f() := 1)\n", "1:2: cannot use assignment expressions with function call"},
      {"*a = 1\n", "1:1: starred assignment target must be in a list or tuple"},
      {"f(a b)\n", "1:3: invalid syntax. Perhaps you forgot a comma?"},
      {"x = [1 2]\n", "1:6: invalid syntax. Perhaps you forgot a comma?"},
      {"f(a=1, 2)\n", "1:8: positional argument follows keyword argument"},
      {"f(**a, 2)\n", "1:8: positional argument follows keyword argument unpacking"},
      {"f(**a, *b)\n", "1:8: iterable argument unpacking follows keyword argument unpacking"},
      {"f(a.b=1)\n", "1:3: expression cannot contain assignment, perhaps you meant \"==\"?"},
      {"f(True=1)\n", "1:3: cannot assign to True"},
      {"f(x for x in y, 1)\n", "1:3: Generator expression must be parenthesized"},
      {"[*a for a in b]\n", "1:2: iterable unpacking cannot be used in comprehension"},
      {"x = a if b\n", "1:5: expected 'else' after 'if' expression"},
      {"{1: }\n", "1:3: expression expected after dictionary key and ':'"},
      {"{1: 2, 3}\n", "1:8: ':' expected after dictionary key"},
      {"def f(a, a): pass\n", "1:10: duplicate argument 'a' in function definition"},
      {"def f(a=1, b): pass\n",
       "1:12: parameter without a default follows parameter with a default"},
      {"def f(*): pass\n", "1:7: named arguments must follow bare *"},
      {"def f(**k, a): pass\n", "1:12: arguments cannot follow var-keyword argument"},
      {"def f(/, a): pass\n", "1:7: at least one argument must precede /"},
      {"def f(a, *b, /): pass\n", "1:14: / must be ahead of *"},
      {"def f: pass\n", "1:6: expected '('"},
      {"print 'x'\n", "1:1: Missing parentheses in call to 'print'. Did you mean print(...)?"},
      {"from a import b,\n", "1:17: trailing comma not allowed without surrounding parentheses"},
      {"try:\n  a\nexcept A, B:\n  b\n", "3:8: multiple exception types must be parenthesized"},
      {"b'a' 'b'\n", "1:6: cannot mix bytes and nonbytes literals"},
      {"b'é'\n", "1:1: bytes can only contain ASCII literal characters"},
      {"'\\x1'\n", "1:1: truncated \\xXX escape"},
      {"f'{}'\n", "1:4: f-string: valid expression required before '}'"},
      {"f'{a!x}'\n", "1:6: f-string: invalid conversion character 'x': expected 's', 'r', or 'a'"},
      {"f'{a b}'\n", "1:6: f-string: expecting '}'"},
      {"f'{a=", "1:3: '{' was never closed"},
      {"a b\n", "1:3: invalid syntax"},
      {"x = 5 +\n", "1:8: invalid syntax"},
      {"x = \n", "1:5: invalid syntax"},
      {"return = 1\n", "1:8: invalid syntax"},
      {"async x\n", "1:7: invalid syntax"},
      {"x.1\n", "1:2: invalid syntax"},
      {"[for]\n", "1:2: invalid syntax"},
      {"match x:\n  case 1:\n  pass\n",
       "3:3: expected an indented block after 'case' statement on line 2"},
  };
  for (const Case& test : cases) EXPECT_EQ(error(test.text), test.message) << test.text;
}

TEST(PythonParserErrors, AnUnclosedBracketIsTheCauseOfWhatFollows) {
  EXPECT_EQ(error("x = (1,\ny = 2\n"), "1:5: '(' was never closed");
  EXPECT_EQ(error("def f():\n    x = [1, 2\n    return x\n"), "2:9: '[' was never closed");
  EXPECT_EQ(error("f(a, b\n"), "1:2: '(' was never closed");
  EXPECT_EQ(error("f(a b\n"), "1:3: invalid syntax. Perhaps you forgot a comma?");
}

TEST(PythonParserErrors, LexicalErrorsWinOverGuesses) {
  EXPECT_EQ(error("a b\nx = 'abc\n"), "2:5: unterminated string literal (detected at line 2)");
}

TEST(PythonParserErrors, CaretsUnderlineTheCulprit) {
  EXPECT_EQ(
      rendered("x = 1\ncdiv(n, 2) = 3\n"),
      "t.py:2:1: error: cannot assign to function call here. Maybe you meant '==' instead of '='?\n"
      "    cdiv(n, 2) = 3\n"
      "    ^^^^^^^^^^");
  EXPECT_EQ(rendered("größe = 'ä' + f(a b)\n"),
            "t.py:1:17: error: invalid syntax. Perhaps you forgot a comma?\n"
            "    größe = 'ä' + f(a b)\n"
            "                    ^^^");
}

TEST(PythonParserErrors, DeepNestingIsRefused) {
  const std::string too_deep = "the code is nested too deeply";
  EXPECT_EQ(error(std::string(100000, '(')), "1:201: too many nested parentheses");
  EXPECT_EQ(error(std::string(100000, '[')), "1:201: too many nested parentheses");
  const auto ends_with_depth = [&](const std::string& text) {
    return error(text).ends_with(too_deep);
  };
  const auto repeat = [](const std::string& unit, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += unit;
    return all;
  };
  EXPECT_TRUE(ends_with_depth(repeat("-", 100000) + "x"));
  EXPECT_TRUE(ends_with_depth(repeat("not ", 100000) + "x"));
  EXPECT_TRUE(ends_with_depth(repeat("lambda: ", 100000) + "x"));
  EXPECT_TRUE(ends_with_depth(repeat("x ** ", 100000) + "x"));
  EXPECT_TRUE(ends_with_depth(repeat("x if y else ", 100000) + "x"));
  EXPECT_TRUE(ends_with_depth(repeat("x + ", 100000) + "x"));
  EXPECT_TRUE(ends_with_depth("x" + repeat(".y", 100000)));
  EXPECT_TRUE(ends_with_depth("x" + repeat("()", 100000)));
  EXPECT_TRUE(ends_with_depth("if x: y\n" + repeat("elif x: y\n", 100000)));
}

TEST(PythonParserErrors, WideCodeIsNotDeep) {
  std::string statements;
  std::string list = "x = [";
  std::string either = "y = a";
  for (int i = 0; i < 20000; ++i) {
    statements += "x = 1\n";
    list += "f(1), ";
    either += " or a";
  }
  EXPECT_EQ(error(statements + list + "]\n" + either + "\n"), "none");
}

TEST(PythonParserErrors, OnlyOneExpressionWhereOneIsAsked) {
  EXPECT_NO_THROW(parse_expression(make_source("t.py", "cdiv(n, BLOCK), 1")));
  EXPECT_THROW(parse_expression(make_source("t.py", "a\nb")), SyntaxOrTypeError);
  EXPECT_THROW(parse_expression(make_source("t.py", "a = 1")), SyntaxOrTypeError);
  EXPECT_THROW(parse_expression(make_source("t.py", "")), SyntaxOrTypeError);
}

}  // namespace
}  // namespace tilewright::python
