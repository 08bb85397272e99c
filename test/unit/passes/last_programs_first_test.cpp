// SPDX-License-Identifier: Apache-2.0
// passes/last_programs_first_test.cpp — which loops grow with a program's number, and what programs
// do from the other end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/last_programs_first.h"
#include "product_kernel.h"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Program p adds up the numbers from FROM to before TO.
std::string sum_text(const std::string& from, const std::string& to) {
  return replaced(replaced(R"(kernel @sums(%o: *i32, %n: i32) tile {
  %p = program_id {axis = 0} : i32
  %q = program_id {axis = 1} : i32
  %none = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %two = constant {value = 2} : i32
  %far = cast %p : i64
  %twice = mul %p, %two : i32
  %capped = min %twice, %n : i32
  %left = sub %n, %p : i32
  %before = add %twice, %one : i32
  %both = mul %p, %q : i32
  %sum = for FROM, TO, %one, %none : i32 (%i: i32, %s: i32) {
    %next = add %s, %i : i32
    yield %next
  }
  %at = offset %o, %far : *i32
  store %at, %sum
}
)",
                           "FROM", from),
                  "TO", to);
}

std::vector<int> axes(const std::string& from, const std::string& to) {
  return find_growing_axes(ir::parse(sum_text(from, to), "sums.tir"));
}

TEST(LastProgramsFirst, FindsLoopsThatGrow) {
  EXPECT_THAT(axes("%none", "%p"), ElementsAre(0));
  EXPECT_THAT(axes("%none", "%q"), ElementsAre(1));
  EXPECT_THAT(axes("%none", "%twice"), ElementsAre(0));
  EXPECT_THAT(axes("%none", "%capped"), ElementsAre(0));
  EXPECT_THAT(axes("%left", "%n"), ElementsAre(0));
  EXPECT_THAT(axes("%none", "%n"), IsEmpty());
  EXPECT_THAT(axes("%none", "%left"), IsEmpty());
  EXPECT_THAT(axes("%p", "%n"), IsEmpty());
  EXPECT_THAT(axes("%twice", "%before"), IsEmpty());  // both ends move
  EXPECT_THAT(axes("%none", "%both"), IsEmpty());
}

// Programs that others may wait for keep their places.
TEST(LastProgramsFirst, LeavesProgramsThatSpeakToEachOther) {
  const std::string text = replaced(sum_text("%none", "%p"), "  store %at, %sum",
                                    "  %old = atomic_rmw %at, %sum {op = \"add\"} : i32");
  EXPECT_THAT(find_growing_axes(ir::parse(text, "sums.tir")), IsEmpty());
}

TEST(LastProgramsFirst, EveryProgramDoesItsPart) {
  ir::Kernel kernel = ir::parse(sum_text("%none", "%twice"), "sums.tir");
  number_from_last(kernel, find_growing_axes(kernel));
  ir::verify(kernel);
  EXPECT_THAT(ir::print(kernel), HasSubstr("num_programs {axis = 0}"));
  EXPECT_THAT(ir::print(kernel), HasSubstr("program_id {axis = 1}"));
  std::vector<std::int32_t> out(7, -1);
  const ir::InterpretBuffer buffers[] = {
      {.name = "o", .data = out.data(), .bytes = out.size() * sizeof(out[0])}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, std::int64_t{7}};
  ir::InterpretOptions options;
  options.grid[0] = 7;
  ir::interpret(kernel, buffers, arguments, options);
  for (int p = 0; p < 7; ++p) EXPECT_EQ(out[static_cast<std::size_t>(p)], p * (2 * p - 1)) << p;
}

}  // namespace
}  // namespace tilewright
