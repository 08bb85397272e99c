// SPDX-License-Identifier: Apache-2.0
// ir/held_rules_test.cpp — rule L3, what buffers hold: kernels that keep it, and break it in a row,
// over a back edge, in a branch and through a view.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

std::string verdict_of(const std::string& body) {
  try {
    verify(parse(
        "kernel @k(%p: *f32, %n: i32, %is: b1) laid {\nbuffer @b : f32[8]\nbuffer @d : f32[8]\n"
        "%zero = constant {value = 0} : i32\n%step = constant {value = 1} : i32\n"
        "%one = constant {value = 1} : i64\n" +
        body + "}"));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "valid";
}

// Makes %name in a buffer; uses it.
std::string make(const std::string& name, const std::string& buffer) {
  return fmt::format(
      "%{0} = sweep {{shape = [8], into = [\"{1}\"]}} : f32[8] {{\n%{0}_from = affine %p, %one : "
      "*f32[8]\n%{0}_0 = load %{0}_from : f32[8]\nyield %{0}_0\n}}\n",
      name, buffer);
}
std::string use(const std::string& name, int number = 0) {
  return fmt::format(
      "sweep {{shape = [8]}} {{\n%to_{0}_{1} = affine %p, %one : *f32[8]\nstore %to_{0}_{1}, "
      "%{0}\nyield\n}}\n",
      name, number);
}
std::string loop(const std::string& body) {
  return "for %zero, %n, %step (%i: i32) {\n" + body + "yield\n}\n";
}

TEST(HeldRules, TilesFollowEachOtherInABuffer) {
  EXPECT_EQ(verdict_of(make("x", "b") + use("x") + make("y", "b") + use("y")), "valid");
  EXPECT_EQ(verdict_of(make("x", "b") + loop(use("x") + make("y", "d") + use("y")) + use("x", 1)),
            "valid");
}

TEST(HeldRules, ATileIsReadBeforeAnotherIsWrittenThere) {
  EXPECT_THAT(verdict_of(make("x", "b") + make("y", "b") + use("x") + use("y")),
              HasSubstr("rule L3: buffer 'b' no longer holds the tile %x that is read from it"));
}

TEST(HeldRules, TheNextRoundReadsWhatThisOneOverwrites) {
  EXPECT_THAT(verdict_of(make("x", "b") + loop(use("x") + make("y", "b") + use("y"))),
              HasSubstr("rule L3: buffer 'b' no longer holds the tile %x"));
}

TEST(HeldRules, ABranchOverwrites) {
  const std::string branch =
      "if %is {\n" + make("y", "b") + use("y") + "yield\n} then {\nyield\n}\n";
  EXPECT_EQ(verdict_of(make("x", "b") + use("x") + branch), "valid");
  EXPECT_THAT(verdict_of(make("x", "b") + branch + use("x")),
              HasSubstr("rule L3: buffer 'b' no longer holds the tile %x"));
}

// What a loop carries is written in place; the tile that it began with is gone.
TEST(HeldRules, CarriedTilesReplaceEachOther) {
  const std::string carried =
      "%r = for %zero, %n, %step, %x {into = [\"b\"]} : f32[8] (%i: i32, %c: f32[8]) {\n"
      "%next = sweep {shape = [8], into = [\"b\"]} : f32[8] {\n%s = add %c, %c : f32[8]\nyield "
      "%s\n}\n"
      "yield %next\n}\n";
  EXPECT_EQ(verdict_of(make("x", "b") + carried + use("r")), "valid");
  EXPECT_THAT(verdict_of(make("x", "b") + carried + use("x")),
              HasSubstr("rule L3: buffer 'b' no longer holds the tile %x"));
}

// The sort reads %x behind the view, after %y was written.
TEST(HeldRules, AViewIsReadWhereItsReaderIs) {
  const std::string sorted =
      "%s = sort %v {first = 1, last = 3, order = \"ascending\", into = [\"d\"]} : f32[8]\n";
  const std::string view = "%v = reshape %x : f32[8]\n";
  EXPECT_EQ(verdict_of(make("x", "b") + view + sorted + make("y", "b") + use("s")), "valid");
  EXPECT_THAT(verdict_of(make("x", "b") + view + make("y", "b") + sorted + use("s")),
              HasSubstr("rule L3: buffer 'b' no longer holds the tile %x"));
}

}  // namespace
}  // namespace tilewright::ir
