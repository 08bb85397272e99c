// SPDX-License-Identifier: Apache-2.0
// base/quote_test.cpp — hostile text inside each language, read back by a reader of that language.
#include "base/quote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include "base/process.h"
#include "base/unicode.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Pieces that end something somewhere.
const std::vector<std::string> pieces = {
    "\n",           "\r",     "\"",     "'",      "\\",        "*/",      "//",      "/*",
    "?\?/",         "?\?/\n", "\\\n",   "</",     "</script>", "<!--",    "-->",     "<script>",
    "]]>",          "&amp;",  "\u2028", "\u2029", "\u202e",    "\x1b[2J", "$(x)",    "`x`",
    "; x",          "| y",    "%s",     "{}",     "=1+1",      ",",       "\t",      "\x7f",
    "\xff\xfe",     "\xc3",   "é",      "漢",     "R\"(",      ")\"",     "#line 1", "\u0085",
    "\xef\xbf\xbe", "a",      " ",      "_x_",    "**b**",     "[l](u)",  "\v",      "\f"};

std::vector<std::string> hostile_texts() {
  std::vector<std::string> texts = pieces;
  texts.emplace_back();
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::uint32_t k = 1 + random() % 8; k > 0; --k) text += pieces[random() % pieces.size()];
    texts.push_back(text);
  }
  return texts;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (point.bytes == 0) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

// The value of a literal that has nothing but simple and octal escapes.
std::string value_of_literal(std::string_view literal) {
  std::string out;
  literal = literal.substr(1, literal.size() - 2);
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\') {
      out += literal[i];
    } else if (literal[++i] == 'n') {
      out += '\n';
    } else if (literal[i] >= '0' && literal[i] <= '7') {
      out += static_cast<char>(std::stoi(std::string(literal.substr(i, 3)), nullptr, 8));
      i += 2;
    } else {
      out += literal[i];
    }
  }
  return out;
}

TEST(Quote, StringsOfCppAreOneTokenAndKeepTheirValue) {
  for (const std::string& text : hostile_texts()) {
    const std::string literal = cpp_string(text);
    const std::string code = literal + ";";
    const auto tokens = tokenize_cpp(code, "test");
    ASSERT_EQ(tokens.size(), 2u) << literal;
    EXPECT_EQ(tokens[0].text, literal);
    EXPECT_EQ(value_of_literal(literal), text);
    EXPECT_THAT(literal, Not(HasSubstr("?\?"))) << "a trigraph";
  }
}

TEST(Quote, CommentsEndWithTheirLine) {
  for (const std::string& text : hostile_texts()) {
    const std::string comment = cpp_comment(text);
    EXPECT_TRUE(comment.starts_with("//")) << comment;
    EXPECT_EQ(comment.find_first_of("\n\r\v\f"), std::string::npos) << comment;
    EXPECT_FALSE(comment.ends_with('\\') || comment.ends_with("?\?/")) << comment;
    EXPECT_TRUE(is_utf8(comment));
    const std::string code = comment + "\nnext;";
    const auto tokens = tokenize_cpp(code, "test");
    ASSERT_EQ(tokens.size(), 2u) << comment;
    EXPECT_EQ(tokens[0].text, "next");
  }
  EXPECT_EQ(cpp_comment("a.py:7: x = y + \\"), "// a.py:7: x = y +");
  EXPECT_EQ(cpp_comment("a\nb.py:7"), "// a\\nb.py:7");
}

TEST(Quote, DirectivesNameAFileThatPtxCanHold) {
  for (const std::string& text : hostile_texts()) {
    const std::string line = line_directive(7, text);
    ASSERT_TRUE(line.starts_with("#line 7 \"") && line.ends_with("\"\n")) << line;
    const std::string name = line.substr(9, line.size() - 11);
    EXPECT_EQ(name.find_first_of("\"\\\n\r\t"), std::string::npos) << line;
    EXPECT_EQ(name, source_name(text));
    EXPECT_TRUE(is_utf8(name));
  }
  EXPECT_EQ(line_directive(1, "dir/a.py"), "#line 1 \"dir/a.py\"\n");
  EXPECT_EQ(source_name("a\"b\\\n.py"), "a_b__.py");
}

TEST(Quote, XmlHasNoMarkupLeft) {
  for (const std::string& text : hostile_texts()) {
    const std::string xml = xml_text(text);
    EXPECT_EQ(xml.find_first_of("<>\"'\x1b\x0b\x0c"), std::string::npos) << xml;
    EXPECT_TRUE(is_utf8(xml));
  }
  EXPECT_EQ(xml_text("<a & 'b'>"), "&lt;a &amp; &#39;b&#39;&gt;");
}

TEST(Quote, JsonIsReadBack) {
  for (const std::string& text : hostile_texts()) {
    const std::string json = json_string(text);
    ASSERT_TRUE(nlohmann::json::accept(json)) << json;
    if (is_utf8(text)) {
      EXPECT_EQ(nlohmann::json::parse(json), nlohmann::json(text));
    }
    const std::string inside = json_in_script("{\"a\": " + json + "}");
    EXPECT_EQ(inside.find_first_of("<>&"), std::string::npos) << inside;
    EXPECT_THAT(inside, Not(HasSubstr("\u2028")));
    EXPECT_EQ(nlohmann::json::parse(inside)["a"], nlohmann::json::parse(json));
  }
}

TEST(Quote, CellsOfMarkdownStayOneCell) {
  for (const std::string& text : hostile_texts()) {
    const std::string cell = markdown_text(text);
    EXPECT_EQ(cell.find_first_of("\n\r"), std::string::npos) << cell;
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (cell[i] == '\\' && i + 1 < cell.size()) ++i;  // escapes what follows
      else EXPECT_EQ(std::string_view("|<>`[]*").find(cell[i]), std::string_view::npos) << cell;
    }
  }
  EXPECT_EQ(markdown_text("add_kernel | x"), "add_kernel \\| x");
}

// One record of CSV (RFC 4180).
std::vector<std::string> read_csv(std::string_view line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[i++];
    else if (line[i] == '"') is_quoted = !is_quoted;
    else if (line[i] == ',' && !is_quoted) cells.emplace_back();
    else cells.back() += line[i];
  }
  return cells;
}

TEST(Quote, CellsOfCsvAreReadBackAndAreNoFormulas) {
  for (const std::string& text : hostile_texts()) {
    const auto cells = read_csv("a," + csv_cell(text) + ",b");
    ASSERT_EQ(cells.size(), 3u) << text;
    const bool is_marked = !text.empty() && std::string("=+-@\t\r").find(text[0]) < 6;
    EXPECT_EQ(cells[1], (is_marked ? "'" : "") + text);
  }
  EXPECT_EQ(csv_cell("plain"), "plain");
}

TEST(Quote, FramesOfStacksHaveNoSeparators) {
  for (const std::string& text : hostile_texts())
    EXPECT_EQ(folded_frame(text).find_first_of(";\n"), std::string::npos) << text;
}

TEST(Quote, WordsOfAShellAreReadBack) {
  std::string script = "for word in";
  std::string expected;
  for (const std::string& text : hostile_texts()) {
    script += " " + shell_word(text);
    expected += "<" + text + ">";
  }
  const ProcessResult r =
      run_process({.arguments = {"sh", "-c", script + "; do printf '<%s>' \"$word\"; done"}});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_TRUE(r.output == expected);
  EXPECT_EQ(shell_word("--dim"), "--dim");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(Quote, PrintableTextStaysOnItsLine) {
  for (const std::string& text : hostile_texts()) {
    const std::string shown = printable(text);
    EXPECT_EQ(shown.find_first_of("\n\r\x1b\t"), std::string::npos);
    EXPECT_TRUE(is_utf8(shown));
  }
  EXPECT_EQ(printable("a\nb\x1b[0m \u202e \xff é"), "a\\nb\\x1b[0m \\u202e \\xff é");
}

TEST(Unicode, TextIsCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("aé", 2), "a");
  EXPECT_EQ(cut_utf8("aé", 3), "aé");
  EXPECT_EQ(cut_utf8("abc", 9), "abc");
}

}  // namespace
}  // namespace tilewright
