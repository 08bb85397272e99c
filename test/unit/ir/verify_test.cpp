// SPDX-License-Identifier: Apache-2.0
// ir/verify_test.cpp — each rule of the verifier is broken once.
#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

std::string verdict(const std::string& ops) {
  const Kernel kernel = parse(
      "kernel @k(%p: *f32, %i: i32, %x: f32, %t: f32[4, 8], %c: b1) source {\n" + ops + "\n}");
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

TEST(Verify, ValidOps) {
  EXPECT_EQ(verdict("%a = offset %p, %i : *f32\n store %a, %x, %c"), "valid");
  EXPECT_EQ(verdict("%a = permute %t {order = [1, 0]} : f32[8, 4]"), "valid");
}

TEST(Verify, StagesOfASort) {
  using testing::HasSubstr;
  const auto sort = [](const char* attributes, const char* type = "f32[4, 8]") {
    return verdict(std::string("%a = sort %t {") + attributes + "} : " + type);
  };
  EXPECT_EQ(sort("first = 1, last = 5, order = \"ascending\""), "valid");
  for (const char* stages : {"first = 0, last = 5", "first = 3, last = 2", "first = 1, last = 6"})
    EXPECT_THAT(sort((std::string(stages) + ", order = \"ascending\"").c_str()),
                HasSubstr("the stages must be from 1 to the number of the index's bits"));
  EXPECT_THAT(sort("first = 1, last = 5, order = \"up\""),
              HasSubstr("the order is alternating, ascending or descending"));
  EXPECT_THAT(sort("first = 1, last = 5, order = \"ascending\"", "f32[32]"),
              HasSubstr("the result must be f32[4, 8], is f32[32]"));
}

std::string tile_verdict(const std::string& ops) {
  const Kernel kernel =
      parse("kernel @k(%p: *f32, %i: i32, %x: f32, %s: i64, %t: *f32[4]) tile {\n" + ops + "\n}");
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

TEST(Verify, ProductsThatGoOn) {
  using testing::HasSubstr;
  const auto loop = [](const char* attributes, const char* body) {
    return tile_verdict(std::string("%h = constant {value = 1.0} : f16[64, 64]\n%z = constant {value = 0.0} : f32[64, 64]\n") +
                        "%r = for %i, %i, %i, %z " + attributes + " : f32[64, 64] (%j: i32, %c: f32[64, 64]) {\n" + body + "\n}");
  };
  const char* adds = "%n = dot %h, %h, %c {pending = 1} : f32[64, 64]\nyield %n";
  EXPECT_EQ(loop("{drains = 1}", adds), "valid");
  EXPECT_EQ(loop("", adds), "valid");  // whoever reads it waits
  EXPECT_EQ(loop("{drains = 1}", "%n = dot %h, %h, %c {pending = 1} : f32[64, 64]\n%m = add %n, %n : f32[64, 64]\nyield %m"), "valid");
  EXPECT_THAT(tile_verdict("%h = constant {value = 1.0} : f16[64, 64]\n%z = constant {value = 0.0} : f32[64, 64]\n"
                           "%n = dot %h, %h, %z {pending = 1} : f32[64, 64]"),
              HasSubstr("must stand in a 'for', not deeper"));
  for (const char* body : {"%n = dot %h, %h, %z {pending = 1} : f32[64, 64]\nyield %n",
                           "%m = add %c, %c : f32[64, 64]\n%n = dot %h, %h, %c {pending = 1} : f32[64, 64]\nyield %n"})
    EXPECT_THAT(loop("{drains = 1}", body), HasSubstr("add to a carried tile that nothing else of the loop reads")) << body;
}

TEST(Verify, AccessForms) {
  using testing::HasSubstr;
  EXPECT_EQ(tile_verdict("%a = affine %p, %s, %s : *f32[4, 8]"), "valid");
  EXPECT_EQ(tile_verdict("%a = affine %i, %s : i32[4]"), "valid");
  EXPECT_EQ(tile_verdict("%a = bounds %s, %s, %s, %s : b1[4, 8]"), "valid");
  EXPECT_THAT(tile_verdict("%a = affine %p, %s : *f32[4, 8]"),
              HasSubstr("needs 3 operands for a tile of rank 2, has 2"));
  EXPECT_THAT(tile_verdict("%a = affine %p : *f32"), HasSubstr("gives a tile"));
  EXPECT_THAT(tile_verdict("%a = affine %p, %i : *f32[4]"),
              HasSubstr("a stride must be i64, is i32"));
  EXPECT_THAT(tile_verdict("%a = affine %x, %s : f32[4]"),
              HasSubstr("the base must be a pointer or an integer"));
  EXPECT_THAT(tile_verdict("%a = affine %t, %s : *f32[4]"),
              HasSubstr("the base must be *f32, is *f32[4]"));
  EXPECT_THAT(tile_verdict("%a = affine %i, %s : i64[4]"),
              HasSubstr("the base must be i64, is i32"));
  EXPECT_THAT(tile_verdict("%a = bounds %s, %s : i32[4]"), HasSubstr("gives a tile of bools"));
  EXPECT_THAT(tile_verdict("%a = bounds %s, %s : b1[4, 8]"),
              HasSubstr("needs 4 operands for a tile of rank 2, has 2"));
  EXPECT_THAT(tile_verdict("%a = bounds %s, %i : b1[4]"), HasSubstr("a bound must be i64, is i32"));
}

TEST(Verify, AccessFormsAreNotOfTheSourceStage) {
  EXPECT_THAT(verdict("%s = constant {value = 1} : i64\n%a = affine %p, %s : *f32[4]"),
              testing::HasSubstr("the op is not legal at this stage"));
}

struct Case {
  const char* ops;
  const char* message;
};

class BrokenRule : public testing::TestWithParam<Case> {};

TEST_P(BrokenRule, IsNamed) {
  EXPECT_THAT(verdict(GetParam().ops), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Verify, BrokenRule,
    testing::Values(
        Case{"%a = add %x : f32", "needs 2 operands, has 1"},
        Case{"%a = add %x, %i : f32", "an operand must be f32, is i32"},
        Case{"%a = add %c, %c : b1", "works on numbers, not on b1"},
        Case{"%a = add %x, %x : f32[2]", "must have one shape"},
        Case{"%a = program_id : i32", "attribute 'axis' is missing"},
        Case{"%a = program_id {axis = 3} : i32", "axis is 0, 1 or 2"},
        Case{"%a = program_id {axis = \"x\"} : i32",
             "attribute 'axis' has the wrong kind of value"},
        Case{"%a = constant {value = 1} : f32", "a value of float is needed"},
        Case{"%a = constant {value = 0.5} : *f32", "a value of integer is needed"},
        Case{"%a = constant {value = 1} : *f32", "the only constant pointer is 0"},
        Case{"%a = reshape %t : f32[16]", "the number of elements must stay"},
        Case{"%a = broadcast %t : f32[8, 8]", "dimension 0 is 4, cannot become 8"},
        Case{"%a = permute %t {order = [0, 0]} : f32[4, 4]",
             "order must name every dimension once"},
        Case{"%a = load %x : f32", "the first operand must be pointers"},
        Case{"%a = load %p, %i : f32", "the mask must be b1, is i32"},
        Case{"store %p, %i", "the value must be f32, is i32"},
        Case{"%a = compare %x, %x {is = \"gtt\"} : b1", "is must be eq, ne, lt, le, gt or ge"},
        Case{"%a = math %x {function = \"foo\"} : f32", "there is no math function 'foo'"},
        Case{"%a = cast %p : i32", "a pointer casts only to"},
        Case{"%a = cast %x {rounding = \"up\"} : f16", "rounds as \"rtz\" or \"saturate\""},
        Case{"%a = cast %x {rounding = \"saturate\"} : f16", "saturates from wider floats"},
        Case{"%a = bitcast %x : i16", "both types must have one width"},
        Case{"%a = dot %t, %t, %t : f32[4, 8]", "the inner sizes must be equal"},
        Case{"%a = reduce %t {axis = 2} : f32[4] (%u: f32, %v: f32) { yield %u }",
             "axis 2 of a tile of rank 2"},
        Case{"%a = reduce %t {axis = 1} : f32[4] (%u: f32) { yield %u }",
             "region 0 needs 2 arguments, has 1"},
        Case{"%a = reduce %t {axis = 1} : f32[8] (%u: f32, %v: f32) { yield %u }",
             "a result must be f32[4], is f32[8]"},
        Case{"if %c { barrier } then { yield }", "a region must end in yield or condition"},
        Case{"if %c { yield } ", "needs 2 regions, has 1"},
        Case{"%a = if %c : f32 { yield %i } then { yield %x }",
             "a yielded value must be f32, is i32"},
        Case{"for %i, %i, %x (%j: i32) { yield }", "a bound must be i32, is f32"},
        Case{"yield\nbarrier", "only the last op of a region may end it"}));

// ---- The Laid stage

std::string verdict_laid(const std::string& ops) {
  const Kernel kernel =
      parse("kernel @k(%p: *f32[8], %t: f32[8], %c: b1, %q: *f32) laid {\n" + ops + "\n}");
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "valid";
}

TEST(Verify, OpsOnElementsStandInSweeps) {
  using testing::HasSubstr;
  EXPECT_EQ(verdict_laid("buffer @y : f32[8]\n%y = sweep {shape = [8], into = [\"y\"]} : f32[8] {\n"
                         " %x = add %t, %t : f32[8]\n store %p, %x\n yield %x\n}"),
            "valid");
  EXPECT_THAT(verdict_laid("%x = add %t, %t : f32[8]"),
              HasSubstr("rule L1: an op on the elements"));
  EXPECT_THAT(verdict_laid("sweep {shape = [4]} {\n store %p, %t\n yield\n}"),
              HasSubstr("rule L1: what a sweep stores has the shape of the sweep"));
  EXPECT_EQ(verdict_laid("%x = reshape %t : f32[2, 4]"), "valid");
}

// A view has no place among the accesses to memory.
TEST(Verify, AnElementOfATileIsAScalarByAReduction) {
  const auto verdict = [](const std::string& op) {
    const Kernel kernel = parse("kernel @k(%p: *f32, %t: f32[1]) laid {\n" + op + "}\n");
    try {
      verify(kernel);
    } catch (const InternalError& error) {
      return std::string(error.what());
    }
    return std::string("valid");
  };
  EXPECT_THAT(verdict("%x = reshape %t : f32\n store %p, %x\n"),
              testing::HasSubstr("rule L1: an element of a tile is a scalar by a reduction"));
  EXPECT_EQ(verdict("%x = sweep {shape = [1]} : f32 {\n %y = reduce %t {axis = 0} : f32 (%a: f32, "
                    "%b: f32) {\n yield %a\n}\n yield %y\n}\n store %p, %x\n"),
            "valid");
}

TEST(Verify, ASweepHoldsNoOtherWalk) {
  using testing::HasSubstr;
  EXPECT_THAT(verdict_laid("sweep {shape = [8]} {\n sweep {shape = [8]} {\n yield\n}\n yield\n}"),
              HasSubstr("rule L1"));
  EXPECT_THAT(
      verdict_laid("sweep {shape = [8]} {\n if %c {\n yield\n} then {\n yield\n}\n yield\n}"),
      HasSubstr("rule L1"));
  EXPECT_THAT(verdict_laid("%y = sweep {shape = [8]} : f32 {\n yield %t\n}"), HasSubstr("yield"));
}

// What leaves a sweep, with and without a buffer.
TEST(Verify, TilesThatOutliveTheirSweepHaveBuffers) {
  using testing::HasSubstr;
  const auto sweep = [](const std::string& attributes, const std::string& behind = "",
                        const std::string& op = "") {
    return verdict_laid(
        "buffer @a : f32[8]\nbuffer @small : f32[4]\nbuffer @s : f32[8] {slots = 2}\n"
        "%y = sweep {shape = [8]" +
        attributes + "} : f32[8] {\n" + op + " %x = add %t, %t : f32[8]\n yield %x\n}\n" + behind);
  };
  EXPECT_EQ(sweep(", into = [\"a\"]"), "valid");
  EXPECT_EQ(sweep(", into = [\"a\"], apart = [0], repeats = [0]"), "valid");
  EXPECT_THAT(sweep(", into = [\"b\"]"), HasSubstr("rule L2: there is no buffer 'b'"));
  EXPECT_THAT(sweep(", into = [\"a\", \"\"]"), HasSubstr("rule L2: `into` has 2 buffers for 1"));
  EXPECT_THAT(sweep(", into = [\"small\"]"), HasSubstr("rule L2: buffer 'small' holds f32[4]"));
  EXPECT_THAT(sweep(", into = [\"s\"]"), HasSubstr("rule L2: buffer 's' has slots"));
  EXPECT_THAT(sweep(", into = [\"a\"], apart = [1]"), HasSubstr("rule L2: `apart` holds 1"));
  EXPECT_THAT(sweep(", into = [\"a\"], repeats = [1]"), HasSubstr("rule L2: `repeats` holds 1"));
  EXPECT_THAT(sweep(", into = [\"a\"], repeats = [0]", "", "store %p, %t\n"),
              HasSubstr("rule L2: it cannot be done again"));
  // Without a buffer: for the next op alone.
  const std::string loop =
      "%n = constant {value = 4} : i32\n%e = for %n, %n, %n, %y {into = [\"a\"]} : f32[8] (%i: "
      "i32, "
      "%z: f32[8]) {\n yield %z\n}\n";
  EXPECT_EQ(sweep("", loop), "valid");
  EXPECT_THAT(sweep("", loop + "print %y {prefix = \"\"}"),
              HasSubstr("rule L2: a tile that is read"));
  EXPECT_THAT(sweep("", loop, "store %p, %t\n"), HasSubstr("rule L2: a tile that is read"));
  EXPECT_THAT(verdict_laid("%y = sweep {shape = [8]} : f32[8] {\n yield %t\n}"),
              HasSubstr("rule L2: a sweep yields what it computes"));
}

TEST(Verify, TilesOfOtherOpsHaveBuffers) {
  using testing::HasSubstr;
  const auto branch = [](const std::string& into) {
    return verdict_laid("buffer @a : f32[8]\n%x = if %c" + into +
                        " : f32[8] {\n yield %t\n} then {\n yield %t\n}");
  };
  EXPECT_EQ(branch(" {into = [\"a\"]}"), "valid");
  EXPECT_THAT(branch(""), HasSubstr("rule L3: a tile that no sweep makes has a buffer"));
  EXPECT_THAT(verdict_laid("buffer @a : f32[8]\n%x = if %c {into = [\"a\"]} : b1 {\n yield %c\n} "
                           "then {\n yield %c\n}"),
              HasSubstr("rule L2: a scalar has no buffer"));
}

TEST(Verify, ElementsOfASweepAreWalkedInAnyOrder) {
  const auto in_sweep = [](const std::string& second) {
    return verdict_laid(R"(
      %one = constant {value = 1} : i64
      %two = constant {value = 2} : i64
      sweep {shape = [8]} {
        %ps = affine %q, %one : *f32[8]
        %more = affine %q, %two : *f32[8]
        %x = load %ps : f32[8]
        store )" + second +
                        ", %x\n yield\n}");
  };
  EXPECT_EQ(in_sweep("%ps"), "valid");
  EXPECT_THAT(in_sweep("%more"), testing::HasSubstr("rule L4: it may meet another element"));
}

TEST(Verify, SweepsBelongToTheLaidStage) {
  EXPECT_THAT(verdict("sweep {shape = [8]} {\n yield\n}"),
              testing::HasSubstr("the op is not legal at this stage"));
}

}  // namespace
}  // namespace tilewright::ir
