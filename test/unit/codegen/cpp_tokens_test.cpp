// SPDX-License-Identifier: Apache-2.0
// codegen/cpp_tokens_test.cpp — the lexer: kinds, places, brackets, and what does not end.
#include "codegen/text/cpp_tokens.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Kind = CppToken::Kind;

std::vector<std::string> texts(std::string_view source) {
  std::vector<std::string> out;
  for (const CppToken& token : tokenize_cpp(source, "t.cu")) out.emplace_back(token.text);
  return out;
}

std::string error_of(std::string_view source) {
  try {
    tokenize_cpp(source, "t.cu");
  } catch (const SyntaxOrTypeError& error) {
    return error.what();
  }
  return "no error";
}

using Texts = std::vector<std::string>;

TEST(CppTokens, EmptyAndBlankTextsGiveNone) {
  EXPECT_EQ(texts(""), Texts{});
  EXPECT_EQ(texts(" \t\r\n // c\n/* c\n*/"), Texts{});
  EXPECT_EQ(texts("//"), Texts{});
}

TEST(CppTokens, PlacesAreLinesAndColumns) {
  const auto tokens = tokenize_cpp("int a;\n  /* x\n */ b", "t.cu");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[1].line, 1);
  EXPECT_EQ(tokens[1].column, 5);
  EXPECT_EQ(tokens[1].offset, 4u);
  EXPECT_EQ(tokens[3].line, 3);
  EXPECT_EQ(tokens[3].column, 5);
  EXPECT_EQ(tokens[3].text, "b");
}

TEST(CppTokens, LaunchAndTemplateBrackets) {
  EXPECT_EQ(texts("k<<<g,b>>>(x)"),
            (Texts{"k", "<<<", "g", ",", "b", ">", ">", ">", "(", "x", ")"}));
  EXPECT_EQ(texts("a<b<int>>c>=d>>e"),
            (Texts{"a", "<", "b", "<", "int", ">", ">", "c", ">", "=", "d", ">", ">", "e"}));
  EXPECT_EQ(texts("a<<b<=c"), (Texts{"a", "<<", "b", "<=", "c"}));
  EXPECT_EQ(texts("x<<=1"), (Texts{"x", "<<=", "1"}));
}

TEST(CppTokens, Numbers) {
  EXPECT_EQ(texts("1'000u 0x1.8p-3f 1.e+5 .5f 1...2"),
            (Texts{"1'000u", "0x1.8p-3f", "1.e+5", ".5f", "1...2"}));
  EXPECT_EQ(texts("a+1-b"), (Texts{"a", "+", "1", "-", "b"}));
  EXPECT_EQ(tokenize_cpp("1'0", "t")[0].kind, Kind::Number);
}

TEST(CppTokens, StringsAndCharacters) {
  const auto tokens = tokenize_cpp(R"x("a\"b//" u8"x"_s 'c' '\'' L'x' R"(a"b
c)" u8R"d()" )d" Rx)x",
                                   "t.cu");
  ASSERT_EQ(tokens.size(), 8u);
  EXPECT_EQ(tokens[0].text, R"("a\"b//")");
  EXPECT_EQ(tokens[1].text, "u8\"x\"_s");
  EXPECT_EQ(tokens[2].kind, Kind::Character);
  EXPECT_EQ(tokens[3].text, "'\\''");
  EXPECT_EQ(tokens[4].text, "L'x'");
  EXPECT_EQ(tokens[5].text, "R\"(a\"b\nc)\"");
  EXPECT_EQ(tokens[5].kind, Kind::String);
  EXPECT_EQ(tokens[6].text, "u8R\"d()\" )d\"");
  EXPECT_EQ(tokens[7].kind, Kind::Identifier);
  EXPECT_EQ(tokens[7].line, 2);
}

TEST(CppTokens, AStringIsNotAWord) { EXPECT_FALSE(tokenize_cpp("\"(\"", "t")[0].is("\"(\"")); }

TEST(CppTokens, DirectivesAreWholeLines) {
  const auto tokens = tokenize_cpp(
      "  #define A(x) \\\n  (x) // c\nint a; # b\n/**/ #include <math.h>  // m\n#pragma once /* "
      "a\n b */ c\nd",
      "t.cu");
  ASSERT_EQ(tokens.size(), 9u);
  EXPECT_EQ(tokens[0].kind, Kind::Directive);
  EXPECT_EQ(tokens[0].text, "#define A(x) \\\n  (x)");
  EXPECT_EQ(tokens[4].kind, Kind::Punctuator);
  EXPECT_EQ(tokens[6].text, "#include <math.h>");
  EXPECT_EQ(tokens[7].text, "#pragma once /* a\n b */ c");
  EXPECT_EQ(tokens[8].line, 7);
  EXPECT_EQ(directive_word(tokens[0]), "define");
  EXPECT_EQ(included_header(tokens[6]), "<math.h>");
  EXPECT_EQ(included_header(tokens[0]), "");
}

TEST(CppTokens, IncludedHeaderFormsAreRead) {
  EXPECT_EQ(included_header(tokenize_cpp("# include \"a b.h\"", "t")[0]), "\"a b.h\"");
  EXPECT_EQ(included_header(tokenize_cpp("#include \\\n <x>", "t")[0]), "<x>");
  EXPECT_EQ(included_header(tokenize_cpp("#include HEADER", "t")[0]), "");
  EXPECT_EQ(included_header(tokenize_cpp("#include <x", "t")[0]), "");
}

TEST(CppTokens, ADirectiveStringHidesACommentMark) {
  EXPECT_EQ(texts("#define U \"http://x\" // c\n#error it's \"odd\n"),
            (Texts{"#define U \"http://x\"", "#error it's \"odd"}));
}

TEST(CppTokens, TextLeftOutByIfZeroGivesNoTokens) {
  EXPECT_EQ(texts("#if 0\ndon't /* read\n#if 1\nthis\n#endif\n#else\na\n#endif\nb"),
            (Texts{"#if 0", "#else", "a", "#endif", "b"}));
  EXPECT_EQ(texts("#if 0x1\na\n#endif"), (Texts{"#if 0x1", "a", "#endif"}));
  EXPECT_EQ(texts("#if 0\nnever closed"), (Texts{"#if 0"}));
}

TEST(CppTokens, ContinuationsAreWhiteSpace) {
  EXPECT_EQ(texts("a \\\n b \\\r\n c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(texts("// c \\\n still c\nd"), (Texts{"d"}));
}

TEST(CppTokens, NonAsciiNamesAndStrayBytes) {
  EXPECT_EQ(texts("größe@`\\x"), (Texts{"größe", "@", "`", "\\", "x"}));
}

TEST(CppTokens, WhatDoesNotEndIsNamed) {
  EXPECT_EQ(
      error_of("a\n /* b"),
      "t.cu:2:2: error: this comment does not end\n     /* b\n     ^^\nhint: close it with */");
  EXPECT_EQ(error_of("f(\"ab\n\");"),
            "t.cu:1:3: error: this string does not end on its line\n    f(\"ab\n      ^\nhint: "
            "close it with \"");
  EXPECT_EQ(error_of("'a"),
            "t.cu:1:1: error: this character does not end on its line\n    'a\n    ^\nhint: close "
            "it with '");
  EXPECT_EQ(error_of("R\"x(a)\""),
            "t.cu:1:1: error: this raw string does not end\n    R\"x(a)\"\n    ^^\n"
            "hint: close it with ), its delimiter and a quote");
}

TEST(CppTokens, BracketsMatch) {
  const auto tokens = tokenize_cpp("f(a[1], {2})", "t");
  EXPECT_EQ(matching_bracket(tokens, 1), tokens.size() - 1);
  EXPECT_EQ(matching_bracket(tokens, 3), 5u);
  const auto open = tokenize_cpp("(a]", "t");
  EXPECT_EQ(matching_bracket(open, 0), open.size());
  EXPECT_EQ(matching_bracket(open, 1), open.size());
  EXPECT_EQ(matching_bracket(open, 9), open.size());
}

TEST(CppTokens, TemplateBracketsMatch) {
  const auto tokens = tokenize_cpp("k<a<b>, (1 > 0)>(x)", "t");
  EXPECT_EQ(matching_bracket(tokens, 1), 12u);
  EXPECT_EQ(matching_bracket(tokens, 3), 5u);
  const auto less = tokenize_cpp("i < n; i > 0", "t");
  EXPECT_EQ(matching_bracket(less, 1), less.size());
}

TEST(CppTokens, LaunchBracketsMatch) {
  const auto tokens = tokenize_cpp("k<<<dim3(n >> 5), a<b>, c>>>(x);", "t");
  const std::size_t close = matching_bracket(tokens, 1);
  ASSERT_LT(close, tokens.size());
  EXPECT_EQ(tokens[close - 1].text, "c");
  EXPECT_EQ(tokens[close + 3].text, "(");
  const auto open = tokenize_cpp("k<<<a, b>>(x);", "t");
  EXPECT_EQ(matching_bracket(open, 1), open.size());
}

TEST(CppTokens, LaunchBracketsMatchAfterATemplateArgument) {
  const auto tokens = tokenize_cpp("k<<<1, size<float>>>>(x);", "t");
  const std::size_t close = matching_bracket(tokens, 1);
  ASSERT_LT(close, tokens.size());
  EXPECT_EQ(tokens[close + 3].text, "(");
}

TEST(CppTokens, JoiningKeepsTheSpacing) {
  EXPECT_EQ(join_tokens(tokenize_cpp("const  float*\n x /* c */, a>=b", "t")),
            "const float* x , a>=b");
  EXPECT_EQ(join_tokens(tokenize_cpp("a\n#define B\nc", "t")), "a\n#define B\nc");
  EXPECT_EQ(join_tokens({}), "");
}

}  // namespace
}  // namespace tilewright
