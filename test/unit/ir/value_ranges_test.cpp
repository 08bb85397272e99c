// SPDX-License-Identifier: Apache-2.0
// ir/value_ranges_test.cpp — ranges of floats, and of differences from a maximum.
#include "ir/analysis/value_ranges.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

// The range of the value named `out`; %x is an f32[4, 8] of which nothing is known.
Range range_of(const std::string& ops) {
  const Kernel kernel = parse(R"(kernel @k(%p: *f32) tile {
    %one = constant {value = 1} : i64
    %eight = constant {value = 8} : i64
    %ps = affine %p, %eight, %one : *f32[4, 8]
    %x = load %ps : f32[4, 8]
)" + ops + "}\n");
  verify(kernel);
  Value out;
  walk(kernel.body, [&](const Op& op) {
    for (const Value result : op.results)
      if (kernel.name_of(result) == "out") out = result;
  });
  return ValueRanges(kernel).of(out);
}

const std::string maximum_of_rows = R"(
    %m = reduce %x {axis = 1} : f32[4] (%a: f32, %b: f32) {
      %c = max %a, %b : f32
      yield %c
    }
    %column = reshape %m : f32[4, 1]
    %top = broadcast %column : f32[4, 8]
)";
const std::string sum_of_powers = R"(
    %s = reduce %e {axis = 1} : f32[4] (%f: f32, %g: f32) {
      %h = add %f, %g : f32
      yield %h
    }
    %out = reshape %s : f32[4, 1]
)";

TEST(ValueRanges, NothingIsKnownOfMemory) {
  EXPECT_EQ(range_of("%out = neg %x : f32[4, 8]\n"), Range{});
}

TEST(ValueRanges, ADifferenceFromTheMaximumIsAtMostZero) {
  EXPECT_EQ(range_of(maximum_of_rows + "%out = sub %x, %top : f32[4, 8]\n").high, 0);
  EXPECT_EQ(range_of(maximum_of_rows + "%out = sub %top, %x : f32[4, 8]\n").high, HUGE_VAL);
}

TEST(ValueRanges, TheMaximumOfAnotherAxisSaysNothing) {
  const Range range = range_of(R"(
    %m = reduce %x {axis = 0} : f32[8] (%a: f32, %b: f32) {
      %c = max %a, %b : f32
      yield %c
    }
    %pairs = reshape %m : f32[4, 2]
    %wide = reshape %m : f32[8, 1]
    %turned = reshape %wide : f32[1, 8]
    %top = broadcast %turned : f32[4, 8]
    %out = sub %x, %top : f32[4, 8]
)");
  EXPECT_EQ(range.high, HUGE_VAL);  // a reshape of a reshape is not followed
}

TEST(ValueRanges, MoreThanTheMaximumIsStillAbove) {
  const Range range = range_of(maximum_of_rows + R"(
    %more = max %top, %x : f32[4, 8]
    %out = sub %x, %more : f32[4, 8]
)");
  EXPECT_EQ(range.high, 0);
}

TEST(ValueRanges, ThePowersOfARowAddUpToOneAtLeast) {
  const Range range = range_of(maximum_of_rows + R"(
    %d = sub %x, %top : f32[4, 8]
    %e = math %d {function = "exp"} : f32[4, 8]
)" + sum_of_powers);
  EXPECT_EQ(range.low, 1);
  EXPECT_NEAR(range.high, 8, 0.01);
}

// Where the maximum is not exact, no element need be 1.
TEST(ValueRanges, PowersBelowAHigherTopAddUpToAnything) {
  const Range range = range_of(maximum_of_rows + R"(
    %ten = constant {value = 10.0} : f32[4, 8]
    %more = max %top, %ten : f32[4, 8]
    %d = sub %x, %more : f32[4, 8]
    %e = math %d {function = "exp"} : f32[4, 8]
)" + sum_of_powers);
  EXPECT_EQ(range.low, 0);
}

TEST(ValueRanges, SquaresAndRootsAreNotNegative) {
  const std::string mean = R"(
    %q = mul %x, %x : f32[4, 8]
    %s = reduce %q {axis = 1} : f32[4] (%f: f32, %g: f32) {
      %h = add %f, %g : f32
      yield %h
    }
    %small = constant {value = 0.5} : f32[4]
    %t = add %s, %small : f32[4]
)";
  EXPECT_EQ(range_of(mean + "%out = hint %t : f32[4]\n").low, 0.5);
  EXPECT_NEAR(range_of(mean + "%out = math %t {function = \"sqrt\"} : f32[4]\n").low, std::sqrt(0.5),
              1e-4);
}

TEST(ValueRanges, ANanLosesAgainstANumber) {
  // Either operand may be a NaN, and then the other one counts.
  EXPECT_EQ(range_of(R"(
    %one_more = math %x {function = "exp"} : f32[4, 8]
    %out = max %one_more, %x : f32[4, 8]
)").low,
            -HUGE_VAL);
  EXPECT_EQ(range_of(R"(
    %floor = constant {value = 2.0} : f32[4, 8]
    %out = max %x, %floor : f32[4, 8]
)").low,
            2);
}

TEST(ValueRanges, BranchesAndChoicesAreJoined) {
  const Range range = range_of(R"(
    %two = constant {value = 2.0} : f32[4, 8]
    %three = constant {value = -3.0} : f32[4, 8]
    %test = compare %x, %two {is = "lt"} : b1[4, 8]
    %out = select %test, %two, %three : f32[4, 8]
)");
  EXPECT_EQ(range, (Range{-3, 2}));
}

}  // namespace
}  // namespace tilewright::ir
