// SPDX-License-Identifier: Apache-2.0
// ir/meetings_test.cpp — threads that meet: rules F4 and F5, what each breaks them with, and what the
// interpreter says of the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis/bit_maps.h"
#include "ir/analysis/meetings.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/insert_barriers.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

// Two warps of four lanes.
Kernel threads(const std::string& ops) {
  return parse("kernel @k(%p: *f32, %n: i32) final {\n"
               "  %thread = thread {count = 8, lanes = 4} : i32\n"
               "  %0 = constant {value = 0} : i32\n"
               "  %1 = constant {value = 1} : i32\n" +
               ops + "}\n");
}

std::string verdict_of_threads(const std::string& ops) {
  try {
    verify(threads(ops));
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

std::vector<float> run(const Kernel& kernel, std::int64_t n, unsigned seed) {
  std::vector<float> p(16, -1.0f);
  const InterpretBuffer buffers[] = {
      {.name = "p", .data = p.data(), .bytes = p.size() * sizeof(float)}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, n};
  InterpretOptions options;
  options.role_seed = seed;
  interpret(kernel, buffers, arguments, options);
  return p;
}

const std::string tile = R"(  %x = array {count = 8, offset = 0} : f32@shared
)";
const std::string write_own = R"(  %v = cast %thread : f32
  write %x, %thread, %v
)";
// What the thread that counts from the other end has.
const std::string read_other = R"(  %2 = linear %thread {factors = [-1], offset = 7} : i32
  %y = read %x, %2 : f32
  %to = offset %p, %thread : *f32
  store %to, %y
)";

TEST(Meetings, WhatAnotherThreadHasWrittenIsReadBehindABarrier) {
  EXPECT_EQ(verdict_of_threads(tile + write_own + "  barrier\n" + read_other), "valid");
  EXPECT_THAT(verdict_of_threads(tile + write_own + read_other), HasSubstr("rule F5"));
  const Kernel right = threads(tile + write_own + "  barrier\n" + read_other);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::vector<float> p = run(right, 0, seed);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(p[i], static_cast<float>(7 - i));
    EXPECT_THROW(run(threads(tile + write_own + read_other), 0, seed), UserError);
  }
}

TEST(Meetings, AThreadReadsItsOwnElementWithoutABarrier) {
  const std::string own = R"(  %2 = digit %thread {over = 1, of = 8} : i32
  %y = read %x, %2 : f32
  %to = offset %p, %thread : *f32
  store %to, %y
)";
  EXPECT_EQ(verdict_of_threads(tile + write_own + own), "valid");
  EXPECT_EQ(run(threads(tile + write_own + own), 0, 3)[5], 5.0f);
}

TEST(Meetings, ArraysInOnePlaceArePartedByABarrier) {
  const std::string second = R"(  %w = array {count = 8, offset = 16} : f32@shared
)";
  const std::string write_second = "  write %w, %thread, %v\n";
  EXPECT_THAT(verdict_of_threads(tile + second + write_own + write_second), HasSubstr("rule F5"));
  EXPECT_EQ(verdict_of_threads(tile + second + write_own + "  barrier\n" + write_second), "valid");
}

const std::string block_sum = R"(  %sum = array %v {count = 1} : f32@registers
  call %sum, %slots {function = "reduce_block", numbers = [3, 1, 1, 0], named = "combine"} (%a: f32, %b: f32) {
    %3 = add %a, %b : f32
    yield %3
  }
)";
const std::string slots = R"(  %slots = array {count = 2, offset = 0} : f32@shared
  %v = cast %thread : f32
)";

TEST(Meetings, ASumInALoopNeedsABarrierInEveryRound) {
  const std::string before = slots + R"(  for %0, %n, %1 {over = "rounds"} (%i: i32) {
)";
  const std::string after = R"(    %4 = read %sum, %0 : f32
    %5 = compare %thread, %0 {is = "eq"} : b1
    %to = offset %p, %i : *f32
    store %to, %4, %5
    yield
  }
)";
  EXPECT_THAT(verdict_of_threads(before + block_sum + after), HasSubstr("rule F5"));
  Kernel kernel = threads(before + block_sum + after);
  EXPECT_THROW(run(kernel, 3, 0), UserError);
  EXPECT_EQ(run(kernel, 1, 0)[0], 28.0f);
  insert_barriers(kernel, Target::parse("sm_90a"));
  verify(kernel);
  const std::string text = print(kernel);
  EXPECT_THAT(text, HasSubstr("    barrier\n    call %sum"));
  EXPECT_EQ(run(kernel, 3, 5)[2], 28.0f);
  insert_barriers(kernel, Target::parse("sm_90a"));
  EXPECT_EQ(print(kernel), text);
}

TEST(Meetings, AllThreadsComeToWhereTheyMeet) {
  const std::string some = slots + R"(  %2 = compare %thread, %1 {is = "lt"} : b1
  if %2 {
    barrier
    yield
  } then {
    yield
  }
)";
  EXPECT_THAT(verdict_of_threads(some), HasSubstr("rule F4"));
  // A sum of all threads is the same in all of them; one over lanes is not.
  const std::string behind_sum = R"(  %4 = read %sum, %0 : f32
  %5 = constant {value = 3.0} : f32
  %6 = compare %4, %5 {is = "lt"} : b1
  if %6 {
    barrier
    yield
  } then {
    yield
  }
)";
  EXPECT_EQ(verdict_of_threads(slots + block_sum + behind_sum), "valid");
  const std::string lane_sum = R"(  %v = cast %thread : f32
  %sum = array %v {count = 1} : f32@registers
  call %sum {function = "reduce_lanes", numbers = [3, 1, 0], named = "combine"} (%a: f32, %b: f32) {
    %3 = add %a, %b : f32
    yield %3
  }
)";
  EXPECT_THAT(verdict_of_threads(lane_sum + behind_sum), HasSubstr("rule F4"));
}

TEST(Meetings, ACallThatCombinesFitsItsArrays) {
  EXPECT_THAT(verdict_of_threads(R"(  %v = cast %thread : f32
  %sum = array %v {count = 1} : f32@registers
  call %sum {function = "reduce_lanes", numbers = [3, 1, 0], named = "combine"} (%a: f32) {
    yield %a
  }
)"),
              HasSubstr("rule F9"));
  EXPECT_THAT(verdict_of_threads(R"(  %v = cast %thread : f32
  %sum = array %v {count = 1} : f32@registers
  call %sum {function = "reduce_lanes", numbers = [3, 2, 0], named = "combine"} (%a: f32, %b: f32) {
    yield %a
  }
)"),
              HasSubstr("rule F2"));
}

TEST(Meetings, IndicesAreMapsOfBits) {
  const Kernel kernel = threads(R"(  %2 = digit %thread {over = 2, of = 2} : i32
  %3 = linear %2, %thread {factors = [3, 1]} : i32
  %4 = linear %2 {factors = [72], offset = 4} : i32
)");
  const BitMaps maps(kernel);
  const auto of = [&](std::size_t k) { return maps.of(kernel.body.ops[k]->result()); };
  EXPECT_FALSE(of(4)) << "terms with a bit in common";
  const auto map = of(5);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->offset, 4u);
  ASSERT_EQ(map->columns.size(), 1u);
  EXPECT_EQ(map->columns.begin()->second, 72u);
}

}  // namespace
}  // namespace tilewright::ir
