// SPDX-License-Identifier: Apache-2.0
// ir/group_copies_test.cpp — copies that run ahead beside products of warpgroups at stage Final:
// what products read has landed, was shown and met, and is not copied to before they are done; by
// slots and by how many groups of products are newer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/insert_barriers.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

// 64 lines of 16 elements in each of two slots.
Kernel multiplying(const std::string& ops) {
  return parse(
      "kernel @k(%p: *f16) final {\n"
      "  %thread = thread {count = 128, lanes = 32} : i32\n"
      "  %x = array {count = 2048, offset = 0, slots = 2, align = 1024} : f16@shared\n"
      "  %sums = array {count = 4} : f32@stack\n"
      "  %more = array {count = 4} : f32@stack\n"
      "  %at = linear %thread {factors = [8], offset = 0} : i32\n"
      "  %from = offset %p, %at : *f16\n"
      "  %n0 = constant {value = 0} : i32\n"
      "  %n1 = constant {value = 1024} : i32\n"
      "  %slot0 = view %x, %n0 : f16@shared\n"
      "  %slot1 = view %x, %n1 : f16@shared\n"
      "  %d0 = call %slot0 {function = \"describe\", numbers = [32, 0, 256]} : u64\n"
      "  %d1 = call %slot1 {function = \"describe\", numbers = [32, 0, 256]} : u64\n"
      "  %none = constant {value = 0} : b1\n" +
      ops + "}\n");
}

std::string copy_into(int slot) {
  static int number = 0;
  const std::string own = "%own" + std::to_string(++number);
  return "  " + own + " = view %slot" + std::to_string(slot) + ", %at : f16@shared\n" +
         "  copy_to " + own + ", %from {count = 8}\n";
}
std::string call_of(const char* function, const std::string& more = "") {
  return std::string("  call {function = \"") + function + "\"" + more + "}\n";
}
const std::string landed = "  commit_copies\n  wait_copies {pending = 0}\n";
const std::string shown = call_of("show_to_products");
const std::string met = "  barrier\n";
std::string multiply(int slot, const char* sums) {
  const std::string operand = "%d" + std::to_string(slot);
  return call_of("begin_products") + "  call " + sums + ", " + operand + ", " + operand +
         ", %none {function = \"start_product\", numbers = [8, 0, 0], unit = \"wgmma_f16\"}\n" +
         call_of("commit_products");
}
std::string done(int pending) {
  return call_of("wait_products", ", numbers = [" + std::to_string(pending) + "]");
}
const std::string brought = copy_into(0) + landed + shown + met;

// What the verifier says, and whether the interpreter says something too.
std::string verdict_of_groups(const Kernel& kernel) {
  std::string verdict = "valid", found;
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    verdict = error.what();
  }
  std::vector<unsigned char> p(2048);
  const InterpretBuffer buffers[] = {{.name = "p", .data = p.data(), .bytes = p.size()}};
  const InterpretArgument arguments[] = {InterpretPointer{.buffer = 0}};
  try {
    for (unsigned seed = 0; seed < 4; ++seed) {
      InterpretOptions options;
      options.role_seed = seed;
      interpret(kernel, buffers, arguments, options);
    }
  } catch (const Error& error) {
    found = error.what();
  }
  EXPECT_EQ(found.empty(), verdict == "valid") << found << "\n" << verdict << print(kernel);
  return verdict;
}

TEST(GroupCopies, AreShownOnceTheyHaveLanded) {
  const std::string product = multiply(0, "%sums") + done(0);
  EXPECT_EQ(verdict_of_groups(multiplying(brought + product)), "valid");
  EXPECT_THAT(verdict_of_groups(multiplying(copy_into(0) + landed + met + product)),
              HasSubstr("rule F6: a product reads what threads wrote and have not shown"));
  EXPECT_THAT(verdict_of_groups(multiplying(copy_into(0) + shown + landed + met + product)),
              HasSubstr("rule F6: a product reads what threads wrote and have not shown"));
  EXPECT_THAT(verdict_of_groups(multiplying(copy_into(0) + landed + shown + product)),
              HasSubstr("rule F5"));
  EXPECT_THAT(verdict_of_groups(multiplying(copy_into(0) + "  commit_copies\n" + shown + met +
                                            product + "  wait_copies {pending = 0}\n")),
              HasSubstr("rule F6: a copy to the same shared memory may be under way"));
}

TEST(GroupCopies, GoToOtherSlotsThanProductsRead) {
  const std::string start = brought + multiply(0, "%sums");
  EXPECT_EQ(verdict_of_groups(multiplying(start + copy_into(1) + done(0) + landed)), "valid");
  EXPECT_THAT(verdict_of_groups(multiplying(start + copy_into(0) + done(0) + landed)),
              HasSubstr("rule F6: what a product reads is written while it may go on"));
  EXPECT_THAT(verdict_of_groups(multiplying(start + done(0) + copy_into(0) + landed)),
              HasSubstr("rule F5"));
  EXPECT_EQ(verdict_of_groups(multiplying(start + done(0) + met + copy_into(0) + landed)), "valid");
}

TEST(GroupCopies, GoWhereTheProductsThatReadAreOldEnough) {
  const std::string both = copy_into(0) + copy_into(1) + landed + shown + met +
                           multiply(0, "%sums") + multiply(1, "%more");
  EXPECT_EQ(verdict_of_groups(multiplying(both + done(1) + met + copy_into(0) + landed + done(0))),
            "valid");
  EXPECT_THAT(verdict_of_groups(multiplying(both + done(1) + copy_into(0) + landed + done(0))),
              HasSubstr("rule F5"));
  EXPECT_THAT(
      verdict_of_groups(multiplying(both + done(1) + met + copy_into(1) + landed + done(0))),
      HasSubstr("rule F6: what a product reads is written while it may go on"));
  // Only what is done is read by the threads that wait: a meeting before that says nothing of it.
  EXPECT_THAT(
      verdict_of_groups(multiplying(both + done(1) + met + done(0) + copy_into(1) + landed)),
      HasSubstr("rule F5"));
}

TEST(GroupCopies, ArePutRightByInsertBarriers) {
  Kernel kernel = multiplying(copy_into(0) + multiply(0, "%sums") + done(0) + copy_into(0));
  insert_barriers(kernel, Target::parse("sm_90a"));
  EXPECT_EQ(verdict_of_groups(kernel), "valid") << print(kernel);
}

}  // namespace
}  // namespace tilewright::ir
