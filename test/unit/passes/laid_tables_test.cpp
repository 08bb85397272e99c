// SPDX-License-Identifier: Apache-2.0
// passes/laid_tables_test.cpp — what assign_layouts and place_tiles write into the tables of a Laid
// kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/laid/assign_layouts.h"
#include "passes/laid/place_tiles.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

void lay_out(ir::Kernel& kernel, const PlaceOptions& options) {
  const Target target = Target::parse("sm_90a");
  const LaidFacts facts(kernel, kernel.shape.warps * kernel.shape.cluster * target.warp_size);
  assign_layouts(kernel, facts, target);
  place_tiles(kernel, facts, options);
}

// The kernel with its tables, which are valid, and the same when the passes run again.
std::string laid_out(const std::string& text, const PlaceOptions& options = {}) {
  ir::Kernel kernel = ir::parse(text);
  ir::verify(kernel);
  lay_out(kernel, options);
  ir::verify(kernel);
  std::string out = ir::print(kernel);
  lay_out(kernel, options);
  EXPECT_EQ(ir::print(kernel), out);
  return out;
}

constexpr const char* row =
    R"(kernel @row(%p: *f32 {divisible = 16}, %q: *f32 {divisible = 16}) laid {
  shape {warps = 1}
  buffer @x : f32[256]
  %one = constant {value = 1} : i64
  %x, %m = sweep {shape = [256], into = ["x", ""]} : f32[256], f32 {
    %from = affine %p, %one : *f32[256]
    %x0 = load %from : f32[256]
    %m0 = reduce %x0 {axis = 0} : f32 (%a: f32, %b: f32) {
      %c = max %a, %b : f32
      yield %c
    }
    yield %x0, %m0
  }
  sweep {shape = [256]} {
    %m1 = splat %m : f32[256]
    %d = sub %x, %m1 : f32[256]
    %to = affine %q, %one : *f32[256]
    store %to, %d
    yield
  }
}
)";

TEST(LaidTables, SweepsOfOneTileShareTheLayoutOfItsWidestAccess) {
  const std::string text = laid_out(row);
  EXPECT_THAT(
      text,
      HasSubstr("  layout #0 [256] {register = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = [], "
                "vector = 4}\n"
                "  buffer @x : f32[256] {space = \"registers\", layout = \"0\"}\n"));
  EXPECT_THAT(text, HasSubstr("sweep {shape = [256], layout = \"0\", into = [\"x\", \"\"]}"));
  EXPECT_THAT(text, HasSubstr("sweep {shape = [256], layout = \"0\"} {"));
  EXPECT_THAT(text, Not(HasSubstr("layout #1")));
}

TEST(LaidTables, ARowThatIsKeptPrivateIsSharedMemory) {
  EXPECT_THAT(
      laid_out(row, {.keeps_row_private = true}),
      HasSubstr("buffer @x : f32[256] {space = \"shared\", layout = \"0\", private = 1}\n"));
}

TEST(LaidTables, ATileThatIsReadAcrossThreadsIsSharedMemory) {
  const std::string text =
      laid_out(R"(kernel @turn(%p: *f32 {divisible = 16}, %q: *f32 {divisible = 16}) laid {
  shape {warps = 4}
  buffer @x : f32[32, 32]
  %one = constant {value = 1} : i64
  %by = constant {value = 32} : i64
  %x = sweep {shape = [32, 32], into = ["x"]} : f32[32, 32] {
    %from = affine %p, %by, %one : *f32[32, 32]
    %x0 = load %from : f32[32, 32]
    yield %x0
  }
  sweep {shape = [32, 32]} {
    %t = permute %x {order = [1, 0]} : f32[32, 32]
    %to = affine %q, %by, %one : *f32[32, 32]
    store %to, %t
    yield
  }
}
)");
  EXPECT_THAT(text, HasSubstr("buffer @x : f32[32, 32] {space = \"shared\", layout = \"0\"}\n"));
}

TEST(LaidTables, ProductsGetTheirUnitAndOperandsAnOrder) {
  const std::string text =
      laid_out(R"(kernel @product(%p: *f16 {divisible = 16}, %q: *f32 {divisible = 16}) laid {
  shape {warps = 1}
  buffer @a : f16[16, 16]
  buffer @c : f32[16, 16]
  %one = constant {value = 1} : i64
  %by = constant {value = 16} : i64
  %a = sweep {shape = [16, 16], into = ["a"]} : f16[16, 16] {
    %from = affine %p, %by, %one : *f16[16, 16]
    %a0 = load %from : f16[16, 16]
    yield %a0
  }
  %zero = constant {value = 0.0} : f32[16, 16]
  %c = dot %a, %a, %zero {into = ["c"]} : f32[16, 16]
  sweep {shape = [16, 16]} {
    %to = affine %q, %by, %one : *f32[16, 16]
    store %to, %c
    yield
  }
}
)");
  EXPECT_THAT(text, HasSubstr("{unit = \"mma_f16\", warps = [0, 0, 0, 0, 0], into = [\"c\"]}"));
  EXPECT_THAT(text,
              HasSubstr("buffer @a : f16[16, 16] {space = \"shared\", layout = \"0\", order = ["));
  EXPECT_THAT(text, HasSubstr("buffer @c : f32[16, 16] {space = \"registers\", layout = \"1\"}\n"));
  EXPECT_THAT(text, HasSubstr("unroll = 1}\n"));
}

TEST(LaidTables, AScanSaysWhereItIsMade) {
  const auto scan = [](const std::string& columns) {
    return laid_out(
        "kernel @scan(%p: *f32 {divisible = 16}, %q: *f32 {divisible = 16}) laid {\n"
        "shape {warps = 1}\nbuffer @x : f32[" +
        columns + "]\nbuffer @s : f32[" + columns +
        "]\n%one = constant {value = 1} : i64\n%x = sweep {shape = [" + columns +
        "], into = [\"x\"]} : f32[" + columns + "] {\n%from = affine %p, %one : *f32[" + columns +
        "]\n%x0 = load %from : f32[" + columns +
        "]\nyield %x0\n}\n%s = scan %x {axis = 0, into = [\"s\"]} : f32[" + columns +
        "] (%a: f32, %b: f32) {\n%c = add %a, %b : f32\nyield %c\n}\nsweep {shape = [" + columns +
        "]} {\n%to = affine %q, %one : *f32[" + columns + "]\nstore %to, %s\nyield\n}\n}\n");
  };
  EXPECT_THAT(scan("128"), HasSubstr("scan %x {axis = 0, via = \"registers\", into = [\"s\"]}"));
  EXPECT_THAT(scan("8192"), HasSubstr("scan %x {axis = 0, via = \"shared\", into = [\"s\"]}"));
}

}  // namespace
}  // namespace tilewright
