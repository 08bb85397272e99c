// SPDX-License-Identifier: Apache-2.0
// base/diagnostic_test.cpp — the caret stands under the right column.
#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Diagnostic, ShowsLineAndCaret) {
  const std::string text = "a = 1\nx = tl.load(n)\n";
  const SyntaxOrTypeError error(
      {"gelu.py", {2, 13, 1}, "tl.load needs a pointer, got an int32", "add the base pointer"},
      text);
  EXPECT_STREQ(error.what(),
               "gelu.py:2:13: error: tl.load needs a pointer, got an int32\n"
               "    x = tl.load(n)\n"
               "                ^\n"
               "hint: add the base pointer");
}

TEST(Diagnostic, TabsKeepTheCaretInPlace) {
  EXPECT_EQ(render({"f", {1, 2, 3}, "bad", ""}, "\tabc\n"),
            "f:1:2: error: bad\n    \tabc\n    \t^^^");
}

TEST(Diagnostic, ColumnsCountCharacters) {
  EXPECT_EQ(render({"f", {1, 4, 2}, "bad", ""}, "äöüßx\n"),
            "f:1:4: error: bad\n    äöüßx\n       ^^");
}

TEST(Diagnostic, CaretIsCutAtTheEndOfTheLine) {
  EXPECT_EQ(render({"f", {1, 3, 99}, "bad", ""}, "abcd"), "f:1:3: error: bad\n    abcd\n      ^^");
}

TEST(Diagnostic, OfALongLineThePartAroundTheCaretIsShown) {
  const std::string line = std::string(1000, 'a') + "bcd" + std::string(1000, 'e');
  EXPECT_EQ(render({"f", {1, 1001, 3}, "bad", ""}, line),
            "f:1:1001: error: bad\n    ..." + std::string(60, 'a') + "bcd" + std::string(97, 'e') +
                "...\n       " + std::string(60, ' ') + "^^^");
  EXPECT_EQ(
      render({"f", {1, 2, 500}, "bad", ""}, line),
      "f:1:2: error: bad\n    " + std::string(160, 'a') + "...\n     " + std::string(159, '^'));
  EXPECT_EQ(render({"f", {1, 2003, 9}, "bad", ""}, line), "f:1:2003: error: bad\n    ..." +
                                                              std::string(160, 'e') + "\n       " +
                                                              std::string(159, ' ') + "^");
}

TEST(Diagnostic, PlaceOutsideTheTextIsHarmless) {
  EXPECT_EQ(render({"f", {9, 1, 1}, "bad", ""}, "abcd"), "f:9:1: error: bad");
  EXPECT_EQ(render({"f", {0, 0, 1}, "bad", ""}, "abcd"), "f: error: bad");
}

}  // namespace
}  // namespace tilewright
