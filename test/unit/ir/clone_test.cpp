// SPDX-License-Identifier: Apache-2.0
// unit/ir/clone_test.cpp — a copy of a kernel is the same kernel, and another one.
#include "ir/clone.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

constexpr const char* loop = R"(kernel @sum(%x: *f32 {divisible = 16}, %n: i32) tile "sum.py" {
  buffer @tiles : f32[64] {slots = 2}
  %zero = constant {value = 0.0} : f32 @1:2
  %from = constant {value = 0} : i32
  %step = constant {value = 1} : i32
  %total = for %from, %n, %step, %zero : f32 (%i: i32, %sum: f32) {
    %p = offset %x, %i : *f32
    %v = load %p : f32
    %next = add %sum, %v : f32
    yield %next
  }
  store %x, %total
}
)";

TEST(CloneTest, PrintsAsTheOriginal) {
  const Kernel kernel = parse(loop);
  const Kernel copy = clone(kernel);
  EXPECT_EQ(print(copy), print(kernel));
  verify(copy);
}

TEST(CloneTest, ValuesKeepTheirNumbersAndHaveTheCopiesOpsAsMakers) {
  const Kernel kernel = parse(loop);
  const Kernel copy = clone(kernel);
  ASSERT_EQ(copy.value_count(), kernel.value_count());
  for (std::uint32_t id = 0; id < kernel.value_count(); ++id) {
    EXPECT_EQ(copy.name_of({id}), kernel.name_of({id}));
    EXPECT_EQ(copy.type({id}), kernel.type({id}));
    const Op* maker = copy.maker({id});
    ASSERT_EQ(maker == nullptr, kernel.maker({id}) == nullptr);
    if (maker == nullptr) continue;
    EXPECT_NE(maker, kernel.maker({id}));
    EXPECT_EQ(maker->kind, kernel.maker({id})->kind);
  }
}

TEST(CloneTest, ChangesOfTheCopyAreItsOwn) {
  const Kernel kernel = parse(loop);
  const std::string before = print(kernel);
  Kernel copy = clone(kernel);
  copy.body.ops.pop_back();
  copy.body.ops.back()->regions[0].ops.clear();
  copy.buffers.clear();
  EXPECT_EQ(print(kernel), before);
}

}  // namespace
}  // namespace tilewright::ir
