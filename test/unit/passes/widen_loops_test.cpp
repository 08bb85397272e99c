// SPDX-License-Identifier: Apache-2.0
// passes/widen_loops_test.cpp — two rounds of a softmax as one: the same result but for rounding in
// the interpreter, whatever the number of rounds and the sign of the scale; what is no such
// recurrence stays as it is.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "count_ops.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/widen_loops.h"
#include "product_kernel.h"

namespace tilewright {
namespace {

using ir::OpKind;

const char* const softmax_text =
    R"(kernel @softmax(%q: *f16 {divisible = 16}, %k: *f16 {divisible = 16}, %v: *f16 {divisible = 16}, %o: *f32, %l: *f32, %n: i32, %scale: f32) tile {
  %s1 = constant {value = 1} : i64
  %s64 = constant {value = 64} : i64
  %c0 = constant {value = 0} : i32
  %c64 = constant {value = 64} : i32
  %zero = constant {value = 0.0} : f32[64, 64]
  %ones = constant {value = 1.0} : f32[64]
  %lowest = constant {value = -inf} : f32[64]
  %scales = splat %scale : f32[64]
  %all_scales = splat %scale : f32[64, 64]
  %q_ptrs = affine %q, %s64, %s1 : *f16[64, 64]
  %qv = load %q_ptrs : f16[64, 64]
  %acc, %sum, %high = for %c0, %n, %c64, %zero, %ones, %lowest : f32[64, 64], f32[64], f32[64] (%i: i32, %acc_0: f32[64, 64], %sum_0: f32[64], %high_0: f32[64]) {
    %wide = cast %i : i64
    %at = mul %wide, %s64 : i64
    %k0 = offset %k, %at : *f16
    %k_ptrs = affine %k0, %s64, %s1 : *f16[64, 64]
    %kv = load %k_ptrs : f16[64, 64]
    %kt = permute %kv {order = [1, 0]} : f16[64, 64]
    %s = dot %qv, %kt, %zero : f32[64, 64]
    %largest = reduce %s {axis = 1} : f32[64] (%a: f32, %b: f32) {
      %c = max %a, %b : f32
      yield %c
    }
    %scaled = mul %largest, %scales : f32[64]
    %high_1 = max %high_0, %scaled : f32[64]
    %d = sub %high_0, %high_1 : f32[64]
    %shrink = math %d {function = "exp2"} : f32[64]
    %t = mul %s, %all_scales : f32[64, 64]
    %column = reshape %high_1 : f32[64, 1]
    %columns = broadcast %column : f32[64, 64]
    %u = sub %t, %columns : f32[64, 64]
    %p = math %u {function = "exp2"} : f32[64, 64]
    %part = reduce %p {axis = 1} : f32[64] (%x: f32, %y: f32) {
      %z = add %x, %y : f32
      yield %z
    }
    %less = mul %sum_0, %shrink : f32[64]
    %sum_1 = add %less, %part : f32[64]
    %shrink_column = reshape %shrink : f32[64, 1]
    %shrinks = broadcast %shrink_column : f32[64, 64]
    %acc_less = mul %acc_0, %shrinks : f32[64, 64]
    %v0 = offset %v, %at : *f16
    %v_ptrs = affine %v0, %s64, %s1 : *f16[64, 64]
    %vv = load %v_ptrs : f16[64, 64]
    %ph = cast %p : f16[64, 64]
    %acc_1 = dot %ph, %vv, %acc_less : f32[64, 64]
    yield %acc_1, %sum_1, %high_1
  }
  %o_ptrs = affine %o, %s64, %s1 : *f32[64, 64]
  store %o_ptrs, %acc
  %l_ptrs = affine %l, %s1 : *f32[64]
  %log = math %sum {function = "log2"} : f32[64]
  %both = add %high, %log : f32[64]
  store %l_ptrs, %both
}
)";

// n keys of 64 elements each, in 64 rows at a time.
struct SoftmaxMemory {
  std::vector<std::uint16_t> q, k, v;
  std::vector<float> o = std::vector<float>(64 * 64, -1.0F), l = std::vector<float>(64, -1.0F);

  explicit SoftmaxMemory(std::size_t keys) {
    std::mt19937 random(3);
    for (auto* to : {&q, &k, &v})
      for (std::size_t i = 0; i < (to == &q ? 64 : keys) * 64; ++i)
        to->push_back(static_cast<std::uint16_t>(0x3000 + random() % 0x800 + (random() & 0x8000)));
  }
  void run(const ir::Kernel& kernel, std::int64_t n, double scale) {
    const auto buffer = [](const char* name, auto& data) {
      return ir::InterpretBuffer{
          .name = name, .data = data.data(), .bytes = data.size() * sizeof(data[0])};
    };
    const ir::InterpretBuffer buffers[] = {buffer("q", q), buffer("k", k), buffer("v", v),
                                           buffer("o", o), buffer("l", l)};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0},
                                               ir::InterpretPointer{1},
                                               ir::InterpretPointer{2},
                                               ir::InterpretPointer{3},
                                               ir::InterpretPointer{4},
                                               n,
                                               scale};
    ir::interpret(kernel, buffers, arguments, {});
  }
};

bool widens(ir::Kernel& kernel) {
  return widen_loops(kernel, Target::parse("sm_90a"), {.num_warps = 4});
}

TEST(WidenLoops, KeepsTheSoftmaxWhateverTheRounds) {
  const ir::Kernel narrow = ir::parse(softmax_text, "softmax.tir");
  ir::Kernel wide = ir::parse(softmax_text, "softmax.tir");
  ASSERT_TRUE(widens(wide));
  ir::verify(wide);
  EXPECT_EQ(count(wide, OpKind::For), 2);
  for (const std::int64_t n : {0, 64, 100, 128, 192, 320})
    for (const double scale : {0.5, -0.5, 3.0}) {
      SoftmaxMemory want(384), got(384);
      want.run(narrow, n, scale);
      got.run(wide, n, scale);
      for (std::size_t i = 0; i < want.l.size() && n > 0; ++i)
        ASSERT_NEAR(want.l[i], got.l[i], 1e-3) << n << " " << scale;
      for (std::size_t i = 0; i < want.o.size() && n > 0; ++i) {
        const float near = 4e-3F * std::max(1.0F, std::abs(want.o[i]));
        ASSERT_NEAR(want.o[i], got.o[i], near) << n << " " << scale;
      }
    }
}

// A row that has no number in its first round is NaN in the source; numbers of the second round,
// which is made with the third one, change nothing.
TEST(WidenLoops, RowsWithoutNumbersAreNotSaved) {
  const std::string finite = replaced(softmax_text, "value = -inf", "value = -1e30");
  for (const std::string& text : {std::string(softmax_text), finite}) {
    const ir::Kernel narrow = ir::parse(text, "softmax.tir");
    ir::Kernel wide = ir::parse(text, "softmax.tir");
    ASSERT_TRUE(widens(wide));
    ir::verify(wide);
    for (const std::int64_t n : {64, 128, 192, 256, 300}) {
      SoftmaxMemory want(384);
      for (auto& element : want.q) element &= 0x7FFF;
      for (std::size_t key = 0; key < 64; ++key) want.k[key * 64] = 0xFC00;  // -inf
      SoftmaxMemory got = want;
      want.run(narrow, n, 0.5);
      got.run(wide, n, 0.5);
      for (std::size_t i = 0; i < want.l.size(); ++i) {
        EXPECT_EQ(std::isnan(want.l[i]), text != finite) << n;
        ASSERT_EQ(std::isnan(want.l[i]), std::isnan(got.l[i])) << n;
        ASSERT_EQ(std::isnan(want.o[i]), std::isnan(got.o[i])) << n;
      }
    }
  }
}

// Each of these would be another result: a maximum that somebody else reads, sums that shrink by
// something else, elements that are read before they are summed up, keys of other rounds.
TEST(WidenLoops, LeavesOtherRecurrences) {
  const std::pair<const char*, const char*> changes[] = {
      {"yield %acc_1, %sum_1, %high_1", "yield %acc_1, %sum_1, %d"},
      {"%less = mul %sum_0, %shrink : f32[64]", "%less = mul %sum_0, %high_1 : f32[64]"},
      {"%less = mul %sum_0, %shrink : f32[64]", "%less = mul %sum_0, %sum_0 : f32[64]"},
      {"%ph = cast %p : f16[64, 64]",
       "%p2 = mul %p, %p : f32[64, 64]\n    %ph = cast %p2 : f16[64, 64]"},
      {"%d = sub %high_0, %high_1 : f32[64]", "%d = sub %high_0, %scaled : f32[64]"},
      {"%shrink = math %d {function = \"exp2\"}", "%shrink = math %d {function = \"exp\"}"},
      {"%at = mul %wide, %s64 : i64",
       "%far = mul %wide, %s64 : i64\n    %at = add %far, %far : i64"},
      {"%scaled = mul %largest, %scales : f32[64]", "%scaled = sub %largest, %scales : f32[64]"},
      // Rows of another axis.
      {"%shrink_column = reshape %shrink : f32[64, 1]",
       "%shrink_column = reshape %shrink : f32[1, 64]"},
      // Of a number that is cut: it comes back to where it was.
      {"%wide = cast %i : i64",
       "%low = cast %i : i8\n    %high_bits = cast %low : i64\n    %wide = add %high_bits, %s64 : "
       "i64"},
  };
  for (const auto& [from, to] : changes) {
    const std::string text = replaced(softmax_text, from, to);
    ASSERT_NE(text, softmax_text) << from;
    ir::Kernel kernel = ir::parse(text, "softmax.tir");
    EXPECT_FALSE(widens(kernel)) << to;
  }
}

// A largest integer times a factor: that wraps, and a factor of floats alone is compared with 0.
TEST(WidenLoops, LeavesLargestIntegersTimesAFactor) {
  const auto with = [](const char* factored) {
    std::string text = replaced(softmax_text, "%ones, %lowest :", "%ones, %lowest, %none :");
    text = replaced(text, "f32[64, 64], f32[64], f32[64] (",
                    "f32[64, 64], f32[64], f32[64], i32[64] (");
    text = replaced(text, "%acc, %sum, %high = for",
                    "%none = constant {value = -5} : i32[64]\n"
                    "  %counts = splat %n : i32[64]\n  %acc, %sum, %high, %most = for");
    text = replaced(text, "%high_0: f32[64])", "%high_0: f32[64], %most_0: i32[64])");
    text = replaced(text, "yield %acc_1, %sum_1, %high_1",
                    std::string(R"(%whole = cast %s : i32[64, 64]
    %top = reduce %whole {axis = 1} : i32[64] (%g: i32, %h: i32) {
      %r = max %g, %h : i32
      yield %r
    }
    %times = mul %top, %counts : i32[64]
    %most_1 = max %most_0, )") +
                        factored + " : i32[64]\n    yield %acc_1, %sum_1, %high_1, %most_1");
    ir::Kernel kernel = ir::parse(text, "softmax.tir");
    ir::verify(kernel);
    const bool has_widened = widens(kernel);
    ir::verify(kernel);
    return has_widened;
  };
  EXPECT_TRUE(with("%top"));
  EXPECT_FALSE(with("%times"));
}

// Sums of scaled elements that nothing shrinks, and sums that shrink by another softmax's factor.
TEST(WidenLoops, LeavesSumsOfOtherScales) {
  const std::string carries = "%acc, %sum, %high = for";
  const auto with = [&](const std::string& ops, const std::string& less) {
    std::string text = replaced(softmax_text, "%ones, %lowest :", "%ones, %lowest, MORE :");
    text = replaced(text, carries, "%acc, %sum, %high, %more = for");
    text = replaced(text, "yield %acc_1, %sum_1, %high_1",
                    ops + "yield %acc_1, %sum_1, %high_1, %more_1");
    return replaced(text, "%less = mul %sum_0, %shrink", less);
  };
  const std::string unscaled =
      replaced(replaced(replaced(with("%twice = add %ph, %ph : f16[64, 64]\n    "
                                      "%more_1 = dot %twice, %vv, %more_0 : f32[64, 64]\n    ",
                                      "%less = mul %sum_0, %shrink"),
                                 "MORE", "%zero"),
                        "f32[64], f32[64] (", "f32[64], f32[64], f32[64, 64] ("),
               "%high_0: f32[64])", "%high_0: f32[64], %more_0: f32[64, 64])");
  const std::string other = replaced(
      replaced(
          replaced(with("",
                        "%negated = neg %s : f32[64, 64]\n    "
                        "%greatest = reduce %negated {axis = 1} : f32[64] (%g: f32, %h: f32) {\n"
                        "      %gh = max %g, %h : f32\n      yield %gh\n    }\n    "
                        "%more_1 = max %more_0, %greatest : f32[64]\n    "
                        "%e = sub %more_0, %more_1 : f32[64]\n    "
                        "%other_shrink = math %e {function = \"exp2\"} : f32[64]\n    "
                        "%less = mul %sum_0, %other_shrink"),
                   "MORE", "%lowest"),
          "f32[64], f32[64] (", "f32[64], f32[64], f32[64] ("),
      "%high_0: f32[64])", "%high_0: f32[64], %more_0: f32[64])");
  for (const std::string& text : {unscaled, other}) {
    ir::Kernel kernel = ir::parse(text, "softmax.tir");
    ir::verify(kernel);
    EXPECT_FALSE(widens(kernel)) << text;
  }
}

}  // namespace
}  // namespace tilewright
