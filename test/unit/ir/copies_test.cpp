// SPDX-License-Identifier: Apache-2.0
// ir/copies_test.cpp — asynchronous copies: text, rules, cost, and what the interpreter finds
// wrong.
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ir/cost.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

constexpr std::string_view head = R"(kernel @k(%x: *f32, %y: *f32, %n: i64) tile {
  buffer @tiles : f32[4] {slots = 2}
  %zero = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %five = constant {value = 5} : i32
  %none = constant {value = 0} : i64
  %step = constant {value = 1} : i64
  %four = constant {value = 4} : i64
  %p = affine %x, %step : *f32[4]
  %x4 = offset %x, %four : *f32
  %q = affine %x4, %step : *f32[4]
  %out = affine %y, %step : *f32[4]
)";

std::string with_head(std::string_view ops) { return fmt::format("{}{}\n}}\n", head, ops); }

// What y holds after the program, or the message of its error. x is 1, 2, .. 8.
std::string outcome(std::string_view ops, std::int64_t n = 4) {
  const Kernel kernel = parse(with_head(ops));
  verify(kernel);
  std::vector<float> x(8), y(4, -1);
  std::iota(x.begin(), x.end(), 1.0f);
  const InterpretBuffer buffers[] = {{.name = "x", .data = x.data(), .bytes = 32},
                                     {.name = "y", .data = y.data(), .bytes = 16}};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}, n};
  try {
    interpret(kernel, buffers, arguments, {});
  } catch (const UserError& error) {
    return error.what();
  }
  return fmt::format("{} {} {} {}", y[0], y[1], y[2], y[3]);
}

TEST(Copies, ArriveAtTheWait) {
  EXPECT_EQ(outcome(R"(
  copy_async %p, %zero {buffer = "tiles"}
  commit_copies
  copy_async %q, %one {buffer = "tiles"}
  commit_copies
  wait_copies {pending = 1}
  %a = read_buffer %zero {buffer = "tiles"} : f32[4]
  wait_copies {pending = 0}
  %b = read_buffer %one {buffer = "tiles"} : f32[4]
  %s = add %a, %b : f32[4]
  store %out, %s)"),
            "6 8 10 12");
}

TEST(Copies, MaskAndOther) {
  constexpr std::string_view ops = R"(
  %m = bounds %none, %n : b1[4]
  %other = constant {{value = 9.5}} : f32[4]
  copy_async %p, %zero, %m{} {{buffer = "tiles"}}
  commit_copies
  wait_copies {{pending = 0}}
  %a = read_buffer %zero {{buffer = "tiles"}} : f32[4]
  store %out, %a)";
  EXPECT_EQ(outcome(fmt::format(ops, ", %other"), 3), "1 2 3 9.5");
  EXPECT_EQ(outcome(fmt::format(ops, ""), 1), "1 0 0 0");
}

TEST(Copies, ASlotIsUsedAgain) {
  EXPECT_EQ(outcome(R"(
  copy_async %p, %zero {buffer = "tiles"}
  commit_copies
  wait_copies {pending = 0}
  %a = read_buffer %zero {buffer = "tiles"} : f32[4]
  %kept = add %a, %a : f32[4]
  copy_async %q, %zero {buffer = "tiles"}
  commit_copies
  wait_copies {pending = 0}
  %b = read_buffer %zero {buffer = "tiles"} : f32[4]
  %s = add %kept, %b : f32[4]
  store %out, %s)"),
            "7 10 13 16");
}

TEST(Copies, WrongProgramsAreFound) {
  EXPECT_THAT(outcome(R"(
  %a = read_buffer %zero {buffer = "tiles"} : f32[4])"),
              HasSubstr("slot 0 of buffer 'tiles' is read, but nothing was copied into it"));
  EXPECT_THAT(outcome(R"(
  copy_async %p, %zero {buffer = "tiles"}
  commit_copies
  wait_copies {pending = 1}
  %a = read_buffer %zero {buffer = "tiles"} : f32[4])"),
              HasSubstr("slot 0 of buffer 'tiles' is read before its copy was waited for"));
  EXPECT_THAT(outcome(R"(
  copy_async %p, %zero {buffer = "tiles"}
  wait_copies {pending = 0}
  %a = read_buffer %zero {buffer = "tiles"} : f32[4])"),
              HasSubstr("slot 0 of buffer 'tiles' is read before its copy was waited for"))
      << "a copy that was not committed";
  EXPECT_THAT(outcome(R"(
  copy_async %p, %zero {buffer = "tiles"}
  commit_copies
  copy_async %q, %zero {buffer = "tiles"})"),
              HasSubstr("slot 0 of buffer 'tiles' is written while a copy into it is under way"));
  EXPECT_THAT(outcome(R"(
  copy_async %p, %five {buffer = "tiles"})"),
              HasSubstr("slot 5 of buffer 'tiles', which has 2"));
  EXPECT_THAT(outcome(R"(
  copy_async %out, %zero {buffer = "tiles"}
  commit_copies
  %v = load %p : f32[4]
  store %out, %v
  wait_copies {pending = 0})"),
              HasSubstr("memory was written while the copy of it was under way"));
}

TEST(Copies, ATileIsNotUsedAfterItsSlotIsGivenAway) {
  constexpr std::string_view ops = R"(
  copy_async %p, %zero {{buffer = "tiles"}}
  commit_copies
  wait_copies {{pending = 0}}
  %a = read_buffer %zero {{buffer = "tiles"}} : f32[4]
  %view = reshape %a : f32[4]
  copy_async %q, %zero {{buffer = "tiles"}}
  store %out, %{})";
  EXPECT_THAT(outcome(fmt::format(ops, "a")),
              HasSubstr("a tile of slot 0 of buffer 'tiles' is used after a new copy into the"));
  EXPECT_THAT(outcome(fmt::format(ops, "view")),
              HasSubstr("a tile of slot 0 of buffer 'tiles' is used after a new copy into the"));
}

TEST(Copies, TextIsReadBack) {
  const std::string text = print(parse(with_head(R"(
  copy_async %p, %zero {buffer = "tiles"}
  commit_copies
  wait_copies {pending = 0}
  %a = read_buffer %zero {buffer = "tiles"} : f32[4])")));
  EXPECT_THAT(text, HasSubstr("  buffer @tiles : f32[4] {slots = 2}\n"));
  EXPECT_THAT(text, HasSubstr("  copy_async %p, %zero {buffer = \"tiles\"}\n  commit_copies\n"));
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_THROW(parse("kernel @k() tile { buffer @b : f32[4] {slots = 0} }"), SyntaxOrTypeError);
}

std::string verdict(std::string_view ops) {
  try {
    verify(parse(with_head(ops)));
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

TEST(Copies, Rules) {
  EXPECT_THAT(verdict(R"(copy_async %p, %zero {buffer = "other"})"),
              HasSubstr("there is no buffer 'other'"));
  EXPECT_THAT(verdict(R"(copy_async %p, %none {buffer = "tiles"})"),
              HasSubstr("the slot must be i32, is i64"));
  EXPECT_THAT(verdict(R"(copy_async %x, %zero {buffer = "tiles"})"),
              HasSubstr("the tile that is copied must be f32[4], is f32"));
  EXPECT_THAT(verdict(R"(%a = read_buffer %zero {buffer = "tiles"} : f32[8])"),
              HasSubstr("the result must be f32[4], is f32[8]"));
  EXPECT_THAT(verdict("wait_copies {pending = -1}"), HasSubstr("pending must not be negative"));
  EXPECT_THAT(verdict("%m = bounds %none, %n : b1[8]\n"
                      R"(copy_async %p, %zero, %m {buffer = "tiles"})"),
              HasSubstr("the mask must be b1[4], is b1[8]"));
}

TEST(Copies, CostTheirReads) {
  const KernelCost cost =
      cost_of_program(parse(with_head(R"(copy_async %p, %zero {buffer = "tiles"})")));
  ASSERT_EQ(cost.bytes_read.size(), 1u);
  EXPECT_EQ(cost.bytes_read[0].value, 16);
  ASSERT_EQ(cost.bytes_written.size(), 1u);
  EXPECT_EQ(cost.bytes_written[0].value, 0);
}

}  // namespace
}  // namespace tilewright::ir
