// SPDX-License-Identifier: Apache-2.0
// codegen/sweeps_test.cpp — a Laid kernel as the emitters walk it.
#include "passes/laid/sweeps.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

// A loop adds a row to a tile in every round; what it begins with is computed where it is copied.
const char* const adds_rows = R"(kernel @k(%p: *f32, %n: i32) laid {
  buffer @sum : f32[8]
  %zero = constant {value = 0} : i32
  %next = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %first = sweep {shape = [8], repeats = [1]} : f32[8] {
    %numbers = arange {start = 0} : i32[8]
    %first.1 = cast %numbers : f32[8]
    yield %first.1
  }
  %end = for %zero, %n, %next, %first {into = ["sum"]} : f32[8] (%k: i32, %sum: f32[8]) {
    %more = sweep {shape = [8], into = ["sum"]} : f32[8] {
      %ps = affine %p, %one : *f32[8]
      %x = load %ps : f32[8]
      %more.1 = add %sum, %x : f32[8]
      yield %more.1
    }
    yield %more
  }
  %last = sweep {shape = [8], repeats = [1]} : f32 {
    %ps.1 = affine %p, %one : *f32[8]
    %x.1 = load %ps.1 : f32[8]
    %product = mul %end, %x.1 : f32[8]
    %last.1 = reduce %product {axis = 0} : f32 (%a: f32, %b: f32) {
      %c = add %a, %b : f32
      yield %c
    }
    yield %last.1
  }
  store %p, %last
}
)";

class SweepsTest : public testing::Test {
 protected:
  SweepsTest() : kernel_(ir::parse(adds_rows)), sweeps_(kernel_) { ir::verify(kernel_); }
  const Step& step(std::size_t number) const { return sweeps_.steps()[number]; }

  ir::Kernel kernel_;
  Sweeps sweeps_;
};

TEST_F(SweepsTest, StepsAreTheOpsInOrder) {
  using Kind = Step::Kind;
  ASSERT_EQ(sweeps_.steps().size(), 6u);  // three constants; what the loop begins with is its own
  EXPECT_EQ(step(3).kind, Kind::Control);
  EXPECT_EQ(step(4).kind, Kind::Elements);
  EXPECT_EQ(step(5).kind, Kind::Scalar);
  ASSERT_EQ(step(3).regions[0].size(), 1u);
  const Step& inside = step(3).regions[0][0];
  EXPECT_EQ(inside.ops.size(), 2u);  // the load and the sum, not the view
  ASSERT_EQ(inside.kept.size(), 1u);
  EXPECT_LT(step(3).order, inside.order);
  EXPECT_LT(inside.order, step(4).order);
}

TEST_F(SweepsTest, WhatIsRepeatedIsComputedOnDemand) {
  ASSERT_EQ(step(4).ops.size(), 1u);  // the product alone
  EXPECT_EQ(step(4).ops[0]->kind, ir::OpKind::Multiply);
  EXPECT_EQ(step(4).reductions.size(), 1u);
  const ir::Op* load = kernel_.maker(step(4).ops[0]->operands[1]);
  EXPECT_TRUE(sweeps_.is_repeat(*load));
  EXPECT_FALSE(sweeps_.is_repeat(*step(3).regions[0][0].ops[0]));
}

TEST_F(SweepsTest, TilesOfALoopShareTheArrayOfWhatItCarries) {
  const ir::Op& loop = *step(3).op;
  const ir::Value carried = loop.regions[0].arguments[1];
  const ir::Value kept = step(3).regions[0][0].kept[0];
  const ir::Value next = loop.regions[0].ops.back()->operands[0];
  for (const ir::Value value : {carried, kept, next, loop.result()}) {
    EXPECT_TRUE(sweeps_.is_placed(value));
    EXPECT_EQ(sweeps_.storage(value), carried);
  }
  EXPECT_EQ(sweeps_.owners(), std::vector<ir::Value>{carried});
  EXPECT_EQ(sweeps_.result_of(kept), next);
  EXPECT_EQ(sweeps_.source_of(next), kept);
  // The sweep that computes it does not read it; those after it do.
  EXPECT_FALSE(sweeps_.is_in_array(kept, {}));
  EXPECT_TRUE(sweeps_.is_in_array(next, {}));
  EXPECT_FALSE(sweeps_.is_in_array(loop.operands[3], {}));  // has no buffer
}

}  // namespace
}  // namespace tilewright
