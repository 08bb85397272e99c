// SPDX-License-Identifier: Apache-2.0
// ir/shared_rules_test.cpp — rule L7: a kernel that keeps it, and one for each way to break it.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

// @x and @y are never in use at the same time; @x and the scratch are.
constexpr const char* right = R"(kernel @k(%p: *f32) laid {
  shape {warps = 2}
  layout #0 [64] {register = [], lane = [1, 2, 4, 8, 16], warp = [32]}
  buffer @x : f32[64] {space = "shared", layout = "0", offset = 0}
  buffer @y : f32[64] {space = "shared", layout = "0", offset = 0}
  buffer @m_scratch : i64[2] {scratch = 1, space = "shared", offset = 256}
  %one = constant {value = 1} : i64
  %x, %m = sweep {shape = [64], layout = "0", into = ["x", ""]} : f32[64], f32 {
    %from = affine %p, %one : *f32[64]
    %x0 = load %from : f32[64]
    %m0 = reduce %x0 {axis = 0, scratch = "m_scratch"} : f32 (%a: f32, %b: f32) {
      %c = max %a, %b : f32
      yield %c
    }
    yield %x0, %m0
  }
  sweep {shape = [64], layout = "0"} {
    %to = affine %p, %one : *f32[64]
    store %to, %x
    yield
  }
  %y = sweep {shape = [64], layout = "0", into = ["y"]} : f32[64] {
    %all = splat %m : f32[64]
    yield %all
  }
  sweep {shape = [64], layout = "0"} {
    %to2 = affine %p, %one : *f32[64]
    store %to2, %y
    yield
  }
})";

std::string verdict_of(const std::string& text) {
  try {
    verify(parse(text));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "valid";
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = right;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SharedRules, BuffersOfOtherTimesMayHaveOnePlace) { EXPECT_EQ(verdict_of(right), "valid"); }

TEST(SharedRules, BuffersInUseAtTheSameTimeHaveNoByteInCommon) {
  EXPECT_THAT(verdict_of(with("offset = 256", "offset = 240")),
              HasSubstr("rule L7: buffers 'x' and 'm_scratch' have bytes in common"));
  // Read once more, where @y is made.
  EXPECT_THAT(
      verdict_of(with("%all = splat %m : f32[64]\n    yield %all",
                      "%all = splat %m : f32[64]\n    %z = add %all, %x : f32[64]\n    yield %z")),
      HasSubstr("rule L7: buffers 'x' and 'y' have bytes in common"));
}

TEST(SharedRules, AllThatAreUsedHaveOffsetsThatAreAligned) {
  EXPECT_THAT(verdict_of(with("layout = \"0\", offset = 0", "layout = \"0\"")),
              HasSubstr("rule L7: buffer 'x' has no offset, and others have"));
  EXPECT_THAT(verdict_of(with("offset = 256", "offset = 260")),
              HasSubstr("rule L7: buffer 'm_scratch' at 260 is not aligned to 16 bytes"));
  EXPECT_THAT(verdict_of(with("offset = 256", "offset = -16")),
              HasSubstr("'offset' is a number from 0 to"));
  EXPECT_THAT(
      verdict_of(with("@y : f32[64] {space = \"shared\"", "@y : f32[64] {space = \"registers\"")),
      HasSubstr("rule L7: buffer 'y' has an offset, and is not in the block's shared memory"));
}

TEST(SharedRules, ScratchIsNamedByOpsAndHoldsNoTile) {
  EXPECT_THAT(verdict_of(with("{axis = 0, scratch = \"m_scratch\"}", "{axis = 0}")),
              HasSubstr("rule L7: no op has buffer 'm_scratch' as its scratch"));
  EXPECT_THAT(verdict_of(with("scratch = \"m_scratch\"", "scratch = \"none\"")),
              HasSubstr("rule L7: there is no scratch 'none'"));
  EXPECT_THAT(verdict_of(with("scratch = \"m_scratch\"", "scratch = \"y\"")),
              HasSubstr("rule L7: buffer 'y' is a place for tiles, not scratch"));
  EXPECT_THAT(verdict_of(with("into = [\"y\"]", "into = [\"m_scratch\"]")),
              HasSubstr("rule L7: buffer 'm_scratch' is scratch, and no place for tiles"));
  EXPECT_THAT(verdict_of(with("scratch = 1, space = \"shared\", offset = 256", "scratch = 1")),
              HasSubstr("rule L2: buffer 'm_scratch' is scratch, which is shared memory"));
}

}  // namespace
}  // namespace tilewright::ir
