// SPDX-License-Identifier: Apache-2.0
// ir/thread_copies_test.cpp — copies that run ahead of a thread at stage Final: rule F6, slots that
// are told apart, and what the interpreter says of the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

Kernel copying(const std::string& ops) {
  return parse(
      "kernel @k(%p: *f32, %n: i32) final {\n"
      "  %thread = thread {count = 8, lanes = 4} : i32\n"
      "  %0 = constant {value = 0} : i32\n"
      "  %1 = constant {value = 1} : i32\n"
      "  %x = array {count = 8, offset = 0} : f32@shared\n" +
      ops + "}\n");
}

// Thread t copies element t of memory; the one at the other end stores it behind.
const std::string start = R"(  %from = offset %p, %thread : *f32
  %own = view %x, %thread : f32@shared
  copy_to %own, %from {count = 1}
)";
const std::string commit = "  commit_copies\n";
const std::string wait = "  wait_copies {pending = 0}\n";
const std::string meet = "  barrier\n";
const std::string hand_on = R"(  %2 = linear %thread {factors = [-1], offset = 7} : i32
  %y = read %x, %2 : f32
  %4 = linear %thread {factors = [1], offset = 8} : i32
  %to = offset %p, %4 : *f32
  store %to, %y
)";

std::string verdict_of_copies(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

std::vector<float> run_copies(const Kernel& kernel, std::int64_t n, unsigned seed) {
  std::vector<float> p(64);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<float>(i + 1);
  const InterpretBuffer buffers[] = {
      {.name = "p", .data = p.data(), .bytes = p.size() * sizeof(float)}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}, n};
  InterpretOptions options;
  options.role_seed = seed;
  interpret(kernel, buffers, arguments, options);
  return p;
}

// What the interpreter says, in any of 8 orders.
std::string finding(const Kernel& kernel, std::int64_t n = 0) {
  try {
    for (unsigned seed = 0; seed < 8; ++seed) run_copies(kernel, n, seed);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ThreadCopies, ArriveWhereTheyAreWaitedFor) {
  const Kernel kernel = copying(start + commit + wait + meet + hand_on);
  EXPECT_EQ(verdict_of_copies(kernel), "valid");
  EXPECT_EQ(print(parse(print(kernel))), print(kernel));
  for (unsigned seed = 0; seed < 4; ++seed) {
    const std::vector<float> p = run_copies(kernel, 0, seed);
    for (std::size_t t = 0; t < 8; ++t) EXPECT_EQ(p[8 + t], 8 - t) << seed;
  }
}

TEST(ThreadCopies, AreWaitedForBeforeTheirPlaceIsTouched) {
  for (const std::string& ops :
       {start + commit + meet + hand_on, start + wait + meet + hand_on,
        start + commit + "  wait_copies {pending = 1}\n" + meet + hand_on}) {
    const Kernel kernel = copying(ops);
    EXPECT_THAT(verdict_of_copies(kernel),
                HasSubstr("rule F6: a copy to the same shared memory may be under way"));
    EXPECT_THAT(finding(kernel), HasSubstr("is under way")) << ops;
  }
  const Kernel kernel = copying(start + commit + wait + hand_on);
  EXPECT_THAT(verdict_of_copies(kernel), HasSubstr("rule F5"));
  EXPECT_THAT(finding(kernel), HasSubstr("read reads index"));
}

TEST(ThreadCopies, AreWaitedForBeforeTheEnd) {
  const Kernel kernel = copying(start + commit);
  EXPECT_THAT(verdict_of_copies(kernel),
              HasSubstr("rule F6: the program may end while the copy is under way"));
  EXPECT_THAT(finding(kernel), HasSubstr("ends while the copy is under way"));
}

TEST(ThreadCopies, ArePutRightByInsertBarriers) {
  Kernel kernel = copying(start + hand_on);
  insert_barriers(kernel, Target::parse("sm_80"));
  EXPECT_EQ(verdict_of_copies(kernel), "valid") << print(kernel);
  EXPECT_EQ(finding(kernel), "");
}

TEST(ThreadCopies, OfOneThatIsNotWantedAreZeros) {
  std::string ops = start + commit + wait + meet + hand_on;
  const std::string plain = "copy_to %own, %from {count = 1}";
  ops.replace(
      ops.find(plain), plain.size(),
      "%few = compare %thread, %n {is = \"lt\"} : b1\n  copy_to %own, %from, %few {count = 1}");
  const std::vector<float> p = run_copies(copying(ops), 3, 0);
  for (std::size_t t = 0; t < 8; ++t) EXPECT_EQ(p[8 + t], 7 - t < 3 ? 8 - t : 0);
}

TEST(ThreadCopies, Move4Or8Or16Bytes) {
  std::string ops = start + commit + wait + meet + hand_on;
  ops.replace(ops.find("count = 1"), 9, "count = 3");
  EXPECT_THAT(verdict_of_copies(copying(ops)), HasSubstr("a copy moves 4, 8 or 16 bytes"));
}

// A loop over rounds of 8 elements with three slots: copies go two rounds ahead.
std::string rounds(const std::string& free, const std::string& next) {
  const auto copy = [](const std::string& number, const std::string& slot,
                       const std::string& round) {
    return "    %s" + number + " = linear " + slot + " {factors = [8]} : i32\n" + "    %b" +
           number + " = view %buffer, %s" + number + " : f32@shared\n" + "    %o" + number +
           " = view %b" + number + ", %thread : f32@shared\n" + "    %e" + number + " = linear " +
           round + ", %thread {factors = [8, 1]} : i32\n" + "    %f" + number + " = offset %p, %e" +
           number + " : *f32\n" + "    copy_to %o" + number + ", %f" + number +
           " {count = 1}\n    yield\n  } then {\n    yield\n  }\n"
           "  commit_copies\n";
  };
  return "kernel @k(%p: *f32, %n: i32) final {\n"
         "  %thread = thread {count = 8, lanes = 4} : i32\n"
         "  %0 = constant {value = 0} : i32\n"
         "  %1 = constant {value = 1} : i32\n"
         "  %2 = constant {value = 2} : i32\n"
         "  %3 = constant {value = 3} : i32\n"
         "  %buffer = array {count = 24, offset = 0, slots = 3} : f32@shared\n"
         "  %c0 = compare %0, %n {is = \"lt\"} : b1\n  if %c0 {\n" +
         copy("a", "%0", "%0") + "  %c1 = compare %1, %n {is = \"lt\"} : b1\n  if %c1 {\n" +
         copy("b", "%1", "%1") +
         "  %4, %5 = for %0, %n, %1, %0, %0 {over = \"rounds\"} : i32, i32 (%i: i32, %slot: "
         "i32, %total: i32) {\n"
         "  wait_copies {pending = 1}\n  barrier\n"
         "  %i2 = add %i, %2 : i32\n  %more = compare %i2, %n {is = \"lt\"} : b1\n" +
         free + "  if %more {\n" + copy("c", "%free", "%i2") +
         "  %here = linear %slot {factors = [8]} : i32\n"
         "  %now = view %buffer, %here : f32@shared\n"
         "  %other = linear %thread {factors = [-1], offset = 7} : i32\n"
         "  %y = read %now, %other : f32\n"
         "  %z = cast %y : i32\n  %t = add %total, %z : i32\n" +
         next +
         "  yield %next, %t\n  }\n"
         "  %v = cast %5 : f32\n  %to0 = linear %thread {factors = [1], offset = 56} : i32\n"
         "  %to = offset %p, %to0 : *f32\n  store %to, %v\n}\n";
}
const std::string one_back = R"(  %first = compare %slot, %0 {is = "eq"} : b1
  %below = sub %slot, %1 : i32
  %free = select %first, %2, %below : i32
)";
const std::string one_on = R"(  %above = add %slot, %1 : i32
  %last = compare %above, %3 {is = "eq"} : b1
  %next = select %last, %0, %above : i32
)";

TEST(ThreadCopies, SlotsAreToldApartRoundTheLoop) {
  const Kernel kernel = parse(rounds(one_back, one_on));
  EXPECT_EQ(verdict_of_copies(kernel), "valid");
  for (const std::int64_t n : {0, 1, 2, 3, 6}) {
    EXPECT_EQ(finding(kernel, n), "") << n;
    const std::vector<float> p = run_copies(kernel, n, 1);
    float sum = 0;
    for (std::int64_t r = 0; r < n; ++r) sum += static_cast<float>(r * 8 + 8);
    EXPECT_EQ(p[56], sum) << n;
  }
}

// The slot that is read now, or the one that another copy goes to.
TEST(ThreadCopies, WrongSlotsAreFound) {
  const std::string same = "  %free = hint %slot : i32\n";
  const std::string two_back = R"(  %first = compare %slot, %2 {is = "lt"} : b1
  %below = sub %slot, %2 : i32
  %round = add %slot, %1 : i32
  %free = select %first, %round, %below : i32
)";
  for (const std::string& free : {same, two_back}) {
    const Kernel kernel = parse(rounds(free, one_on));
    EXPECT_NE(verdict_of_copies(kernel), "valid") << free;
    EXPECT_NE(finding(kernel, 6), "") << free;
  }
}

}  // namespace
}  // namespace tilewright::ir
