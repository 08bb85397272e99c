// SPDX-License-Identifier: Apache-2.0
// ir/final_test.cpp — stage Final: its text, each rule of its verifier broken once, and what its
// ops do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "machine/library.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

std::string in_programs(const std::string& ops) {
  return "kernel @k(%p: *f32, %n: i32) final {\n  for_programs %p, %n (%q: *f32, %m: i32) {\n" +
         ops + "    yield\n  }\n}\n";
}

std::string verdict_of_final(const std::string& text) {
  try {
    verify(parse(text));
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

// Element i of the result is 2 * i, by way of an array; those from n on are 7.
const char* const doubles = R"(    %zero = constant {value = 0} : i32
    %0 = constant {value = 0} : i32
    %1 = constant {value = 8} : i32
    %2 = constant {value = 1} : i32
    %twice = array {count = 8} : i32@stack
    %all = array %0 {count = 1} : i32@registers
    for %0, %1, %2 {over = "elements", simd = 1} (%i: i32) {
      %3 = linear %i {factors = [2]} : i32
      write %twice, %i, %3
      yield
    }
    %end = call %m, %0, %1 {function = "clip"} : i32
    for %0, %1, %2 {over = "elements"} (%i: i32) {
      %4 = offset %q, %i : *f32
      %5 = compare %i, %end {is = "lt"} : b1
      %6 = read %twice, %i : i32
      %x = cast %6 : f32
      %7 = constant {value = 7.0} : f32
      %y = select %5, %x, %7 : f32
      store %4, %y
      yield
    }
)";

TEST(Final, IsReadBackAsItWasWritten) {
  const Kernel kernel = parse(in_programs(doubles));
  verify(kernel);
  const std::string text = print(kernel);
  EXPECT_THAT(text, HasSubstr("%twice = array {count = 8} : i32@stack"));
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Final, RunsItsPrograms) {
  const Kernel kernel = parse(in_programs(doubles));
  std::vector<float> result(8, -1.0f);
  const InterpretBuffer buffers[] = {
      {.name = "p", .data = result.data(), .bytes = result.size() * sizeof(float)}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, std::int64_t{5}};
  interpret(kernel, buffers, arguments, {});
  EXPECT_EQ(result, (std::vector<float>{0, 2, 4, 6, 8, 7, 7, 7}));
}

TEST(Final, AnElementThatNothingWroteIsReported) {
  const Kernel kernel = parse(in_programs(R"(    %0 = constant {value = 3} : i32
    %tile = array {count = 8} : f32@stack
    %x = read %tile, %0 : f32
    store %q, %x
)"));
  verify(kernel);
  float result = 0;
  const InterpretBuffer buffers[] = {{.name = "p", .data = &result, .bytes = sizeof(float)}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, std::int64_t{5}};
  try {
    interpret(kernel, buffers, arguments, {});
    FAIL() << "nothing was reported";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("index 3 of an array, which nothing has written"));
  }
}

// ---- Rules

TEST(VerifyFinal, F1ValuesAreScalarsPointersAndArrays) {
  EXPECT_THAT(verdict_of_final(in_programs("    %t = arange {start = 0} : i32[8]\n")),
              HasSubstr("rule F1: a value of stage final is no tile"));
}

TEST(VerifyFinal, F2IndicesAreBelowTheCount) {
  EXPECT_THAT(verdict_of_final(in_programs("    %0 = constant {value = 8} : i32\n"
                                           "    %tile = array {count = 8} : f32@stack\n"
                                           "    %x = read %tile, %0 : f32\n    store %q, %x\n")),
              HasSubstr("rule F2"));
}

TEST(VerifyFinal, F7ProgramsSeeTheirArgumentsAlone) {
  EXPECT_THAT(verdict_of_final(in_programs("    %x = load %p : f32\n    store %q, %x\n")),
              HasSubstr("rule F7"));
}

TEST(VerifyFinal, F8WhatHasNoNameIsUsedOnce) {
  EXPECT_THAT(verdict_of_final(in_programs("    %0 = load %q : f32\n    %y = add %0, %0 : f32\n"
                                           "    store %q, %y\n")),
              HasSubstr("rule F8: a value without a name is used once"));
}

TEST(VerifyFinal, F9CallsFitTheLibrary) {
  EXPECT_THAT(verdict_of_final(in_programs("    %x = call {function = \"sing\"} : f32\n")),
              HasSubstr("rule F9: the library has no function 'sing'"));
  EXPECT_THAT(verdict_of_final(in_programs("    %x = call %m {function = \"clip\"} : i32\n")),
              HasSubstr("rule F9: 'clip' takes operands \"iii\""));
  EXPECT_THAT(
      verdict_of_final(in_programs("    %x = call %m, %m, %m {function = \"clip\"} : i64\n")),
      HasSubstr("rule F9: 'clip' gives i32"));
}

TEST(VerifyFinal, ArraysAreOfTheirSpace) {
  EXPECT_THAT(verdict_of_final(in_programs("    %t = array {count = 8} : f32@arena\n")),
              HasSubstr("an array of the arena has an offset"));
  EXPECT_THAT(verdict_of_final(in_programs("    %t = array {count = 2} : f32@registers\n")),
              HasSubstr("a variable has one element"));
  EXPECT_THAT(verdict_of_final(in_programs("    %t = array {count = 0} : f32@stack\n")),
              HasSubstr("at least one element"));
}

TEST(Library, FunctionsAreFoundByTheirNames) {
  for (const LibraryFunction& function : library_functions()) {
    EXPECT_EQ(find_library_function(function.name), &function);
    EXPECT_TRUE(function.meaning.ends_with('.')) << function.name;
  }
  EXPECT_EQ(find_library_function("sing"), nullptr);
}

}  // namespace
}  // namespace tilewright::ir
