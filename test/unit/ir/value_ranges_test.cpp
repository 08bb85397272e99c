// SPDX-License-Identifier: Apache-2.0
// ir/value_ranges_test.cpp — ranges of floats, and of differences from a maximum.
#include "ir/analysis/value_ranges.h"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
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
  EXPECT_NEAR(range_of(mean + "%out = math %t {function = \"sqrt\"} : f32[4]\n").low,
              std::sqrt(0.5), 1e-4);
}

TEST(ValueRanges, ANanLosesAgainstANumber) {
  // Either operand may be a NaN, and then the other one counts.
  EXPECT_EQ(range_of(R"(
    %one_more = math %x {function = "exp"} : f32[4, 8]
    %out = max %one_more, %x : f32[4, 8]
)")
                .low,
            -HUGE_VAL);
  EXPECT_EQ(range_of(R"(
    %floor = constant {value = 2.0} : f32[4, 8]
    %out = max %x, %floor : f32[4, 8]
)")
                .low,
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

// ---- Against the interpreter: no element of a random kernel is outside the range of its value.

constexpr int tile = 4 * 8;

class RandomTiles {
 public:
  explicit RandomTiles(unsigned seed) : random_(seed) {}

  // Every value is stored behind the one before it.
  std::string kernel(int ops) {
    std::string text = R"(kernel @k(%p: *f32, %q: *f32) tile {
    %one = constant {value = 1} : i64
    %eight = constant {value = 8} : i64
    %size = constant {value = 32} : i64
    %ps = affine %p, %eight, %one : *f32[4, 8]
    %v0 = load %ps : f32[4, 8]
    %q0 = offset %q, %size : *f32
)";
    for (int k = 1; k <= ops; ++k) {
      text += op(k);
      text += fmt::format(
          "    %to{0} = affine %q{1}, %eight, %one : *f32[4, 8]\n"
          "    store %to{0}, %v{0}\n    %q{0} = offset %q{1}, %size : *f32\n",
          k, k - 1);
    }
    return text + "}\n";
  }

  float element() {
    constexpr float rare[] = {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, NAN, 1e-40f, 3e38f, 1.0f};
    if (pick(5) == 0) return rare[pick(8)];
    return std::normal_distribution<float>(0, pick(2) ? 1.0f : 30.0f)(random_);
  }

 private:
  int pick(int count) { return std::uniform_int_distribution(0, count - 1)(random_); }
  std::string one_of(std::initializer_list<const char*> all) {
    return all.begin()[pick(int(all.size()))];
  }

  std::string along_rows(int k, const std::string& value, const std::string& combine) {
    return fmt::format(R"(    %r{0} = reduce {1} {{axis = 1}} : f32[4] (%a{0}: f32, %b{0}: f32) {{
      %c{0} = {2} %a{0}, %b{0} : f32
      yield %c{0}
    }}
    %s{0} = reshape %r{0} : f32[4, 1]
    %t{0} = broadcast %s{0} : f32[4, 8]
)",
                       k, value, combine);
  }

  std::string op(int k) {
    const std::string a = fmt::format("%v{}", pick(k)), b = fmt::format("%v{}", pick(k));
    switch (pick(7)) {
      case 0:
        return fmt::format("    %v{} = constant {{value = {:.3f}}} : f32[4, 8]\n", k,
                           pick(9) / 2.0 - 2.0);
      case 1:
        return fmt::format("    %v{} = {} {} : f32[4, 8]\n", k, one_of({"neg", "abs"}), a);
      case 2:
        return fmt::format("    %v{} = math {} {{function = \"{}\"}} : f32[4, 8]\n", k, a,
                           one_of({"exp", "exp2", "sqrt", "rsqrt", "tanh", "erf", "sin", "cosh"}));
      case 3:
        return along_rows(k, a, one_of({"add", "max", "min"})) +
               fmt::format("    %v{0} = hint %t{0} : f32[4, 8]\n", k);
      case 4:  // a difference from the largest, and its power
        return along_rows(k, a, "max") +
               fmt::format(
                   "    %d{0} = sub {1}, %t{0} : f32[4, 8]\n"
                   "    %v{0} = math %d{0} {{function = \"exp\"}} : f32[4, 8]\n",
                   k, a);
      default:
        return fmt::format("    %v{} = {} {}, {} : f32[4, 8]\n", k,
                           one_of({"add", "sub", "mul", "mul", "div", "min", "max"}), a,
                           pick(4) ? b : a);
    }
  }

  std::mt19937 random_;
};

TEST(ValueRanges, NoElementOfARandomKernelIsOutside) {
  constexpr int ops = 12;
  int known = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomTiles tiles(seed);
    const std::string text = tiles.kernel(ops);
    const Kernel kernel = parse(text);
    verify(kernel);
    const ValueRanges ranges(kernel);
    std::vector<float> in(tile), out(tile * (ops + 1));
    for (float& x : in) x = tiles.element();
    const InterpretBuffer buffers[] = {
        {.name = "in", .data = in.data(), .bytes = in.size() * sizeof(float)},
        {.name = "out", .data = out.data(), .bytes = out.size() * sizeof(float)}};
    const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}};
    interpret(kernel, buffers, arguments, {});
    int k = 0;
    walk(kernel.body, [&](const Op& op) {
      if (op.kind != OpKind::Store) return;
      const Range range = ranges.of(op.operands[1]);
      known += range == Range{} ? 0 : 1;
      for (int i = 0; i < tile; ++i) {
        const double x = out[static_cast<std::size_t>(tile * (k + 1) + i)];
        const double slack = std::isinf(x) ? 0 : 1e-5 * std::abs(x);
        EXPECT_FALSE(x < range.low - slack || x > range.high + slack)
            << "element " << i << " of %v" << k + 1 << " is " << x << ", not in [" << range.low
            << ", " << range.high << "], seed " << seed << "\n"
            << text;
      }
      ++k;
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(known, 1000);  // else nothing was tested
}

}  // namespace
}  // namespace tilewright::ir
