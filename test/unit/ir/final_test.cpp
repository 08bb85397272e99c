// SPDX-License-Identifier: Apache-2.0
// ir/final_test.cpp — stage Final: its text, each rule of its verifier broken once, and what its
// ops do.
#include <cmath>
#include <limits>

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

// ---- The program of a thread

// Each of 4 threads moves 4 elements: those before n, which is 13; others are loaded as 9.
const char* const of_thread = R"(kernel @k(%p: *f32, %n: i32) final {
  %thread = thread {count = 4} : i32
  %tile = array {count = 4} : f32@stack
  %0 = constant {value = 0} : i32
  %other = constant {value = 9.0} : f32
  %i = linear %thread {factors = [4]} : i32
  %end = linear %n, %i {factors = [1, -1]} : i32
  %q = offset %p, %i : *f32
  load_to %tile, %q, %0, %end, %other {count = 4, width = 4}
  %1 = constant {value = 16} : i32
  %to = offset %q, %1 : *f32
  %is_first = compare %thread, %0 {is = "eq"} : b1
  store_from %to, %tile {count = 4, width = 2}
  store_from %q, %tile, %is_first {count = 4, width = 4}
}
)";

TEST(FinalThreads, MoveVectorsInAnyOrder) {
  const Kernel kernel = parse(of_thread);
  verify(kernel);
  EXPECT_EQ(print(parse(print(kernel))), print(kernel));
  for (const std::uint64_t seed : {0, 1, 7}) {
    std::vector<float> memory(32);
    for (std::size_t i = 0; i < 16; ++i) memory[i] = static_cast<float>(i);
    const InterpretBuffer buffers[] = {
        {.name = "p", .data = memory.data(), .bytes = memory.size() * sizeof(float)}};
    const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, std::int64_t{13}};
    InterpretOptions options;
    options.role_seed = seed;
    interpret(kernel, buffers, arguments, options);
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(memory[16 + i], i < 13 ? static_cast<float>(i) : 9.0f) << i << ", seed " << seed;
  }
}

TEST(FinalThreads, VectorsFitTheirArrays) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = of_thread;
    text.replace(text.find(from), from.size(), to);
    return verdict_of_final(text);
  };
  EXPECT_EQ(with("thread", "thread"), "valid");
  EXPECT_THAT(with("{count = 4} : i32\n", "{count = 6} : i32\n"), HasSubstr("power of two"));
  EXPECT_THAT(with("%other {count = 4,", "%other {count = 8,"),
              HasSubstr("rule F2: the vector is longer than the array"));
  EXPECT_THAT(with("width = 2", "width = 3"), HasSubstr("multiple of the width"));
  EXPECT_THAT(with("%end, %other", "%end, %n"), HasSubstr("the other value has"));
  EXPECT_THAT(with("%0, %end, %other", "%other"), HasSubstr("needs an array, a pointer"));
  EXPECT_THAT(with("%tile, %is_first", "%tile, %thread"), HasSubstr("the condition is a bool"));
}

// ---- Functions of the library over arrays

// The memory that a kernel with this body leaves.
std::vector<float> run_on(const std::string& ops, std::vector<float> memory) {
  const Kernel kernel = parse(in_programs(ops));
  verify(kernel);
  const InterpretBuffer buffers[] = {
      {.name = "p", .data = memory.data(), .bytes = memory.size() * sizeof(float)}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, std::int64_t{4}};
  interpret(kernel, buffers, arguments, {});
  return memory;
}

// An array with the first four elements of memory, `call` on it, and its elements as they are then.
std::string through_array(const std::string& call) {
  return R"(    %0 = constant {value = 0} : i32
    %1 = constant {value = 4} : i32
    %2 = constant {value = 1} : i32
    %tile = array {count = 4} : f32@stack
    for %0, %1, %2 {over = "elements"} (%i: i32) {
      %3 = offset %q, %i : *f32
      %4 = load %3 : f32
      write %tile, %i, %4
      yield
    }
)" + call +
         R"(    for %0, %1, %2 {over = "elements"} (%i: i32) {
      %5 = read %tile, %i : f32
      %6 = offset %q, %i : *f32
      store %6, %5
      yield
    }
)";
}

TEST(FinalCalls, RunningSums) {
  const auto sums = [](int reverse) {
    return run_on(through_array("    call %tile, %1 {function = \"running_sum\", numbers = [" +
                                std::to_string(reverse) + "]}\n"),
                  {1, 2, 3, 4});
  };
  EXPECT_EQ(sums(0), (std::vector<float>{1, 3, 6, 10}));
  EXPECT_EQ(sums(1), (std::vector<float>{10, 9, 7, 4}));
}

TEST(FinalCalls, RunsAreMergedInEachOrder) {
  const auto merged = [](int order) {
    return run_on(through_array("    call %tile, %1 {function = \"merge_runs\", numbers = [1, 2, " +
                                std::to_string(order) + "]}\n"),
                  {3, 1, 4, 2});
  };
  EXPECT_EQ(merged(0), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(merged(1), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(merged(2), (std::vector<float>{4, 3, 2, 1}));
}

// [[1, 2], [3, 4]] in memory, times itself transposed, added to itself.
TEST(FinalCalls, ProductsReadMemoryAndArraysByStrides) {
  const std::string call =
      "    %c = constant {value = 2} : i32\n"
      "    call %tile, %q, %c, %2, %tile, %2, %c {function = \"dot\", numbers = [2, 2, 2]}\n";
  EXPECT_EQ(run_on(through_array(call), {1, 2, 3, 4}), (std::vector<float>{6, 13, 14, 29}));
}

TEST(FinalCalls, APlaceIsMemoryOrTheArray) {
  const auto taken = [](const std::string& bytes) {
    return run_on(through_array("    %nine = constant {value = 9.0} : f32\n"
                                "    write %tile, %0, %nine\n"
                                "    %there = call %q {function = \"is_aligned\", numbers = [" +
                                bytes +
                                "]} : b1\n"
                                "    %place = call %there, %q, %tile {function = \"in_place\"} : "
                                "f32@stack\n"
                                "    %x = read %place, %0 : f32\n"
                                "    write %tile, %2, %x\n"),
                  {1, 2, 3, 4});
  };
  // No address is a multiple of that many bytes.
  EXPECT_EQ(taken("1"), (std::vector<float>{9, 1, 3, 4}));
  EXPECT_EQ(taken("140737488355328"), (std::vector<float>{9, 9, 3, 4}));
}

TEST(FinalCalls, RunsAreConsecutiveNumbers) {
  const auto is_run = [](std::vector<float> memory) {
    const std::string call = R"(    %row = array {count = 4} : i32@stack
    for %0, %1, %2 {over = "elements"} (%i: i32) {
      %7 = read %tile, %i : f32
      %8 = cast %7 : i32
      write %row, %i, %8
      yield
    }
    %holds = call %row, %1 {function = "is_run"} : b1
    %x = cast %holds : f32
    write %tile, %0, %x
)";
    return run_on(through_array(call), std::move(memory))[0];
  };
  EXPECT_EQ(is_run({5, 6, 7, 8}), 1);
  EXPECT_EQ(is_run({5, 6, 7, 9}), 0);
}

// ---- Functions of the library along rows

// A variable that begins with `from`, a call that is handed element j of the array, and the
// variable as element 0.
std::string along_row(const std::string& function, const std::string& from,
                      const std::string& more = "") {
  return through_array("    %from = constant {value = " + from + R"(} : f32
    %found = array %from {count = 1} : f32@registers
    %row = array {count = 4} : f32@stack
    call %found, %2, %1)" +
                       (function == "sum_kept" ? ", %row" : "") + " {function = \"" + function +
                       R"("} (%j: i64) {
      %x = read %tile, %j : f32
      yield %x
    }
)" + more + R"(    %y = read %found, %0 : f32
    write %tile, %0, %y
)");
}

TEST(FinalCalls, SumsAlongRowsAreAddedToTheVariable) {
  EXPECT_EQ(run_on(along_row("sum", "10.0"), {1, 2, 3, 4})[0], 19);
}

TEST(FinalCalls, WhatStandsBesideASumIsRunToo) {
  std::string ops =
      along_row("sum_kept", "0.0", "    %kept = read %row, %2 : f32\n    write %tile, %2, %kept\n");
  const std::string end = "      yield %x\n    }\n";
  const std::string beside = R"(      yield %x
    } then (%k: i64) {
      %nine = constant {value = 9.0} : f32
      %three = constant {value = 3} : i32
      write %tile, %three, %nine
      call {function = "run_deferred"}
      yield
    }
)";
  ops.replace(ops.find(end), end.size(), beside);
  EXPECT_EQ(run_on(ops, {1, 2, 3, 4}), (std::vector<float>{9, 2, 3, 9}));
}

TEST(FinalCalls, TheLargestIsANumberWhereThereIsOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run_on(along_row("largest", "nan"), {7, nan, 3, nan})[0], 3);
  EXPECT_EQ(run_on(along_row("largest", "5.0"), {7, nan, 3, nan})[0], 5);
  EXPECT_TRUE(std::isnan(run_on(along_row("largest", "nan"), {7, nan, nan, nan})[0]));
}

TEST(FinalCalls, TheLargestOrNanIsNanWhereOneIs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run_on(along_row("largest_or_nan", "5.0"), {7, 1, 8, 3})[0], 8);
  EXPECT_TRUE(std::isnan(run_on(along_row("largest_or_nan", "5.0"), {7, 1, nan, 9})[0]));
  EXPECT_TRUE(std::isnan(run_on(along_row("largest_or_nan", "nan"), {7, 1, 2, 9})[0]));
}

TEST(FinalCalls, DeferredRowsAreWrittenFromWhatTheySee) {
  const std::string ops = R"(    %0 = constant {value = 1.5} : f32
    %by = array %0 {count = 1} : f32@registers
    call %q, %m {function = "defer"} (%j: i64) {
      %1 = constant {value = 0} : i32
      %2 = read %by, %1 : f32
      %3 = cast %j : f32
      %x = mul %2, %3 : f32
      yield %x
    }
)";
  EXPECT_EQ(run_on(ops, {9, 9, 9, 9, 9}), (std::vector<float>{0, 1.5, 3, 4.5, 9}));
}

TEST(FinalCalls, ElementsArePrintedWithTheirIndex) {
  const Kernel kernel =
      parse(in_programs("    %0 = constant {value = 5} : i32\n"
                        "    print %m {prefix = \"n: \"}\n"
                        "    print %m, %0 {prefix = \"n: \"}\n"));
  verify(kernel);
  float memory = 0;
  const InterpretBuffer buffers[] = {{.name = "p", .data = &memory, .bytes = sizeof(float)}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, std::int64_t{4}};
  std::vector<std::string> lines;
  InterpretOptions options;
  options.print = [&](const std::string& line) { lines.push_back(line); };
  interpret(kernel, buffers, arguments, options);
  EXPECT_EQ(lines, (std::vector<std::string>{"pid (0, 0, 0) n: 4", "pid (0, 0, 0) idx 5 n: 4"}));
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

TEST(VerifyFinal, F9FunctionsThatAreHandedOver) {
  const auto verdict = [](const std::string& type, const std::string& function,
                          const std::string& yielded, const std::string& second) {
    return verdict_of_final(in_programs(
        "    %0 = constant {value = 0.0} : " + type + "\n    %s = array %0 {count = 1} : " + type +
        "@registers\n    call %s, %m, %m {function = \"" + function +
        "\"} (%j: i64) {\n      %x = cast %j : " + yielded + "\n      yield %x\n    }" + second +
        "\n"));
  };
  EXPECT_EQ(verdict("f32", "sum", "f32", ""), "valid");
  EXPECT_EQ(verdict("f64", "sum_f64", "f64", ""), "valid");
  EXPECT_EQ(verdict("f32", "sum_beside", "f32", " then (%k: i64) {\n      yield\n    }"), "valid");
  EXPECT_THAT(verdict("f64", "sum", "f64", ""), HasSubstr("rule F9: 'sum' takes operands \"vii\""));
  EXPECT_THAT(verdict("f32", "sum", "f64", ""), HasSubstr("takes an i64 and gives an f32"));
  EXPECT_THAT(verdict("f32", "sum_beside", "f32", " then (%k: i64) {\n      yield %k\n    }"),
              HasSubstr("rule F9: the second function takes an i64 and gives nothing"));
  EXPECT_THAT(
      verdict_of_final(in_programs("    %t = call {function = \"by_turns\", numbers = [0, 0]} "
                                   ": f32@stack\n    %u = read %t, %m : f32\n")),
      HasSubstr("rule F9: 'by_turns' gives new array"));
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

TEST(VerifyFinal, F9ProductsAreOfOneKind) {
  const auto verdict = [](const std::string& dtype, const std::string& numbers) {
    return verdict_of_final(in_programs(
        "    %s = constant {value = 1} : i32\n    %tile = array {count = 4} : " + dtype +
        "@stack\n    call %tile, %q, %s, %s, %q, %s, %s {function = \"dot\", numbers = [" +
        numbers + "]}\n"));
  };
  EXPECT_EQ(verdict("f32", "2, 2, 2"), "valid");
  EXPECT_THAT(verdict("i32", "2, 2, 2"), HasSubstr("rule F9: a product is one of floats"));
  EXPECT_THAT(verdict("f32", "2, 2, 0"), HasSubstr("rule F9: a product has sizes above 0"));
  EXPECT_THAT(verdict("f32", "2, 4, 2"), HasSubstr("rule F2: the product reads or writes behind"));
}

TEST(VerifyFinal, F9OrdersOfMergedRuns) {
  EXPECT_THAT(
      verdict_of_final(in_programs("    %tile = array {count = 4} : f32@stack\n"
                                   "    call %tile, %m {function = \"merge_runs\", numbers = [1, "
                                   "2, 3]}\n")),
      HasSubstr("rule F9: an order of merge_runs"));
}

TEST(VerifyFinal, F1WhatIsAcrossElementsIsLoopsOrACall) {
  EXPECT_THAT(verdict_of_final(in_programs("    print %m, %q {prefix = \"\"}\n")),
              HasSubstr("rule F1: an element is printed with its index"));
  EXPECT_THAT(verdict_of_final(in_programs("    print %m, %m, %m {prefix = \"\"}\n")),
              HasSubstr("rule F1: an element is printed with its index"));
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

TEST(Library, ThreadsThatCallAFunctionTogetherMeetInIt) {
  using Kind = LibraryEffect::Kind;
  for (const LibraryFunction& function : library_functions()) {
    bool meets = false;
    for (const LibraryEffect& effect : effects_of(function))
      meets |= effect.kind == Kind::Exchange || effect.kind == Kind::Barrier ||
               effect.kind == Kind::Cluster;
    EXPECT_EQ(meets, function.is(LibraryFamily::Together)) << function.name;
  }
}

}  // namespace
}  // namespace tilewright::ir
