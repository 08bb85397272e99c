// SPDX-License-Identifier: Apache-2.0
// ir/names_test.cpp — rule F8: kernels that C++ would read otherwise than they mean are refused,
// and those beside them that it reads alike are not.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

std::string verdict_of_names(const std::string& ops, const std::string& arguments = "") {
  try {
    verify(parse("kernel @k(%p: *f32, %q: *f32, %n: i32" + arguments +
                 ") final {\n"
                 "  %thread = thread {count = 8, lanes = 4} : i32\n"
                 "  %0 = constant {value = 0} : i32\n"
                 "  %1 = constant {value = 1} : i32\n"
                 "  %one = constant {value = 1.0} : f32\n"
                 "  %x = array %one {count = 1} : f32@registers\n"
                 "  %y = array %one {count = 1} : f32@registers\n" +
                 ops + "}\n"));
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

TEST(VerifyNames, WhatAnExpressionReadsStaysUntilItIsUsed) {
  const std::string read = "  %2 = read %x, %0 : f32\n", use = "  write %y, %0, %2\n";
  EXPECT_EQ(verdict_of_names(read + use), "valid");
  EXPECT_EQ(verdict_of_names(read + "  write %y, %0, %one\n" + use), "valid");
  EXPECT_THAT(verdict_of_names(read + "  write %x, %0, %one\n" + use),
              HasSubstr("rule F8: it is written where it uses a value without a name, and 'write' "
                        "before it changes what that reads"));
  // Deep in an expression, and by an op in a region.
  const std::string deep = read + "  %3 = mul %2, %one : f32\n";
  EXPECT_THAT(verdict_of_names(deep + "  write %x, %0, %one\n  write %y, %0, %3\n"),
              HasSubstr("'write' before it changes"));
  EXPECT_THAT(verdict_of_names(read +
                               "  %is = compare %n, %0 {is = \"lt\"} : b1\n  if %is {\n"
                               "    write %x, %0, %one\n    yield\n  } then {\n    yield\n"
                               "  }\n" +
                               use),
              HasSubstr("'if' before it changes"));
  // The op that changes it may use it.
  EXPECT_EQ(verdict_of_names(deep + "  write %x, %0, %3\n"), "valid");
}

TEST(VerifyNames, ANameKeepsWhatWasRead) {
  EXPECT_EQ(verdict_of_names("  %old = read %x, %0 : f32\n  write %x, %0, %one\n"
                             "  write %y, %0, %old\n"),
            "valid");
}

TEST(VerifyNames, MemoryIsLoadedBeforeItIsStored) {
  const auto verdict = [](const std::string& to, const std::string& arguments) {
    std::string text = verdict_of_names(
        "  %2 = load %p : f32\n  store %" + to + ", %one\n  write %y, %0, %2\n", arguments);
    return text;
  };
  EXPECT_THAT(verdict("p", ""), HasSubstr("'store' before it changes"));
  EXPECT_EQ(verdict("q", ""), "valid");
}

TEST(VerifyNames, OthersWriteWhereThreadsMeet) {
  const std::string shared =
      "  %s = array {count = 8, offset = 0} : f32@shared\n"
      "  write %s, %thread, %one\n"
      "  %2 = linear %thread {factors = [-1], offset = 7} : i32\n";
  EXPECT_EQ(verdict_of_names(shared + "  barrier\n  %3 = read %s, %2 : f32\n  write %y, %0, %3\n"),
            "valid");
  // It would be written behind the second barrier, where another thread may write already.
  EXPECT_THAT(verdict_of_names(shared + "  barrier\n  %3 = read %s, %2 : f32\n  barrier\n"
                                        "  write %y, %0, %3\n"),
              HasSubstr("'barrier' before it changes"));
}

TEST(VerifyNames, BoundsOfALoopAreAskedForInEveryRound) {
  const auto loop = [](const std::string& array, const std::string& written) {
    return "  %count = array %1 {count = 1} : i32@registers\n"
           "  %other = array %1 {count = 1} : i32@registers\n"
           "  %to = read %" +
           array + ", %0 : i32\n  for %0, %to, %1 {over = \"rounds\"} (%i: i32) {\n    write %" +
           written + ", %0, %i\n    yield\n  }\n";
  };
  EXPECT_EQ(verdict_of_names(loop("count", "count")), "valid");
  const auto without_name = [](std::string text) {
    for (std::size_t at = 0; (at = text.find("%to", at)) != std::string::npos;)
      text.replace(at, 3, "%5");
    return text;
  };
  EXPECT_EQ(verdict_of_names(without_name(loop("count", "other"))), "valid");
  EXPECT_THAT(verdict_of_names(without_name(loop("count", "count"))),
              HasSubstr("rule F8: a round changes what the loop's bound without a name reads"));
}

TEST(VerifyNames, TheNearestDeclarationIsMeant) {
  // Two loops in each other whose index is k: the inner body means the outer one.
  const auto loops = [](const std::string& inner, const std::string& used) {
    return "  %2 = constant {value = 4} : i32\n"
           "  for %0, %2, %1 {over = \"vectors\"} (%k: i32) {\n"
           "    for %0, %2, %1 {over = \"elements\"} (%" +
           inner + ": i32) {\n      %v = cast %" + used +
           " : f32\n      write %y, %0, %v\n      yield\n    }\n    yield\n  }\n";
  };
  EXPECT_EQ(verdict_of_names(loops("j", "k")), "valid");
  EXPECT_EQ(verdict_of_names(loops("k.1", "k.1")), "valid");
  EXPECT_THAT(verdict_of_names(loops("k.1", "k")),
              HasSubstr("rule F8: 'k' is the name of another value here"));
}

TEST(VerifyNames, ADeclarationDoesNotAskForItself) {
  EXPECT_THAT(verdict_of_names("  %is = compare %n, %0 {is = \"lt\"} : b1\n  if %is {\n"
                               "    %n.1 = linear %n {factors = [2]} : i32\n"
                               "    %v = cast %n.1 : f32\n    write %y, %0, %v\n    yield\n"
                               "  } then {\n    yield\n  }\n"),
              HasSubstr("rule F8: 'n' is the name of another value here"));
}

TEST(VerifyNames, ARegionHasEachNameOnce) {
  EXPECT_THAT(verdict_of_names("  %v = cast %n : f32\n  write %y, %0, %v\n"
                               "  %v.1 = cast %thread : f32\n  write %y, %0, %v.1\n"),
              HasSubstr("rule F8: there are two 'v' in one region"));
}

TEST(VerifyNames, WhatIsCarriedIsAssignedOneAfterTheOther) {
  const auto loop = [](const std::string& ops) {
    return "  %2 = for %0, %n, %1, %0, %1 {over = \"rounds\"} : i32, i32 (%i: i32, %a: i32, %b: "
           "i32) {\n" +
           ops + "  }\n";
  };
  const auto verdict = [&](const std::string& ops) {
    std::string text = loop(ops);
    text.replace(text.find("%2 ="), 4, "%2, %3 =");
    return verdict_of_names(text +
                            "  %4 = cast %2 : f32\n  write %y, %0, %4\n"
                            "  %5 = cast %3 : f32\n  write %y, %0, %5\n");
  };
  EXPECT_EQ(verdict("    %t = linear %a {factors = [1], offset = 1} : i32\n    yield %t, %b\n"),
            "valid");
  EXPECT_EQ(verdict("    %a_before = hint %a : i32\n    yield %b, %a_before\n"), "valid");
  EXPECT_THAT(verdict("    yield %b, %a\n"),
              HasSubstr("rule F8: 'a' is assigned before what asks for it is yielded"));
  EXPECT_THAT(verdict("    %7 = linear %a {factors = [1], offset = 1} : i32\n"
                      "    %8 = linear %a {factors = [2]} : i32\n    yield %7, %8\n"),
              HasSubstr("rule F8: 'a' is assigned before"));
}

TEST(VerifyNames, ALoopGivesItsVariables) {
  EXPECT_THAT(
      verdict_of_names("  %last = for %0, %n, %1, %0 {over = \"rounds\"} : i32 (%i: i32, %a: "
                       "i32) {\n    yield %i\n  }\n  %v = cast %last : f32\n"
                       "  write %y, %0, %v\n"),
      HasSubstr("rule F8: what a loop gives has the name of its variable"));
}

TEST(VerifyNames, NamesAreIdentifiersOfCpp) {
  Kernel kernel = parse("kernel @k(%p: *f32) final {\n  %v = load %p : f32\n  store %p, %v\n}\n");
  verify(kernel);
  kernel.set_name(kernel.body.ops[0]->result(), "a b");
  try {
    verify(kernel);
    ADD_FAILURE() << "it is taken";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rule F8: 'a b' is no identifier"));
  }
}

}  // namespace
}  // namespace tilewright::ir
