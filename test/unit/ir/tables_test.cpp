// SPDX-License-Identifier: Apache-2.0
// ir/tables_test.cpp — tables of a Laid kernel are read back as they were printed, and each of
// their rules is broken once.
#include "ir/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ir/clone.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

using testing::HasSubstr;

constexpr const char* tables = R"(kernel @k(%p: *f32) laid {
  shape {warps = 2, programs = 1, cluster = 1, resident = 3}
  layout #0 [8, 8] {register = [1, 2], lane = [4, 8, 16], warp = [32], vector = 2}
  layout #1 [8, 8] {register = [8, 16, 32], lane = [1, 2, 4], warp = [0], along = 0, unroll = 1}
  buffer @slots : f16[8, 8] {slots = 3, space = "shared", order = [1, 2, 4, 9, 18, 36], align = 1024}
  buffer @x : f32[8, 8] {space = "registers", layout = "0"}
  buffer @row : f32[8, 8] {space = "shared", layout = "1", private = 1}
  buffer @lines : f16[8, 8] {space = "registers", layout = "1", swaps = [0, 1, 2, 2]}
  %x = sweep {shape = [8, 8], layout = "0", into = ["x"]} : f32[8, 8] {
    %one = constant {value = 1.0} : f32[8, 8]
    yield %one
  }
}
)";

// The text with one piece replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = tables;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string verdict_of(const std::string& text) {
  try {
    verify(parse(text));
  } catch (const InternalError& error) {
    return error.what();
  } catch (const SyntaxOrTypeError& error) {
    return error.what();
  }
  return "valid";
}

TEST(Tables, AreReadBackAsTheyWerePrinted) {
  EXPECT_EQ(verdict_of(tables), "valid");
  const Kernel kernel = parse(tables);
  EXPECT_EQ(kernel.shape, (KernelShape{.warps = 2, .resident = 3}));
  ASSERT_EQ(kernel.layouts.size(), 2u);
  EXPECT_EQ(kernel.layouts[0].layout.to_string(), "register 1 2 | lane 4 8 16 | warp 32");
  EXPECT_EQ(kernel.layouts[0].along, 1);
  EXPECT_TRUE(kernel.layouts[1].is_unrolled);
  EXPECT_EQ(kernel.buffers[0].align, 1024);
  EXPECT_TRUE(kernel.buffers[2].is_private);
  EXPECT_EQ(kernel.buffers[3].swaps, (std::vector<std::int64_t>{0, 1, 2, 2}));
  const std::string text = print(kernel);
  EXPECT_THAT(text, HasSubstr("  shape {warps = 2, resident = 3}\n"));
  EXPECT_THAT(text,
              HasSubstr("  layout #1 [8, 8] {register = [8, 16, 32], lane = [1, 2, 4], warp = [0], "
                        "along = 0, unroll = 1}\n"));
  EXPECT_THAT(
      text,
      HasSubstr("{slots = 3, space = \"shared\", order = [1, 2, 4, 9, 18, 36], align = 1024}"));
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(print(clone(kernel)), text);
}

TEST(Tables, FactsThatAreNoneAreNamed) {
  EXPECT_THAT(verdict_of(with("resident", "residents")),
              HasSubstr("a shape has no fact 'residents'; there are warps, programs"));
  EXPECT_THAT(verdict_of(with("warps = 2, ", "")), HasSubstr("'warps' is missing"));
  EXPECT_THAT(verdict_of(with("warps = 2", "warps = 0")), HasSubstr("'warps' is a number from 1"));
  EXPECT_THAT(verdict_of(with("warp = [32], ", "")), HasSubstr("'warp' is missing"));
  EXPECT_THAT(verdict_of(with("[1, 2],", "[1, 64],")),
              HasSubstr("column 64 of 'register' is no element"));
  EXPECT_THAT(verdict_of(with("vector = 2", "vector = 8")),
              HasSubstr("'vector' is a number from 1 to 4"));
  EXPECT_THAT(verdict_of(with("vector = 2", "vector = \"a\"")),
              HasSubstr("the wrong kind of value"));
  EXPECT_THAT(verdict_of(with("#0 [8, 8]", "#0")), HasSubstr("a layout has the sizes of a tile"));
  EXPECT_THAT(verdict_of(with("\"registers\"", "\"stack\"")), HasSubstr("'stack' is no space"));
  EXPECT_THAT(verdict_of(with("slots = 3", "slots = 3, slots = 3")),
              HasSubstr("'slots' stands twice"));
  EXPECT_THAT(verdict_of(with("layout #0", "shape {warps = 2}\n layout #0")),
              HasSubstr("one shape"));
}

TEST(Tables, LayoutsReachEveryElementWithTheThreadsOfTheShape) {
  EXPECT_THAT(verdict_of(with("warp = [32]", "warp = [0]")),
              HasSubstr("rule L2: layout '0' leaves elements out"));
  EXPECT_THAT(verdict_of(with("warps = 2", "warps = 4")),
              HasSubstr("has 1 bits for warps, and the shape 2"));
  EXPECT_THAT(verdict_of(with("warps = 2", "warps = 3")),
              HasSubstr("rule L2: 3 warps are no power of two"));
  EXPECT_THAT(verdict_of(with("lane = [1, 2, 4]", "lane = [1, 2, 4, 0]")),
              HasSubstr("4 bits for lanes"));
  EXPECT_THAT(verdict_of(with("vector = 2", "vector = 3")),
              HasSubstr("rule L2: a vector of layout '0'"));
  EXPECT_THAT(verdict_of(with("layout #1", "layout #0")), HasSubstr("there are two layouts '0'"));
  EXPECT_THAT(
      verdict_of(with("  shape {warps = 2, programs = 1, cluster = 1, resident = 3}\n", "")),
      HasSubstr("rule L2: layouts need the kernel's shape"));
}

TEST(Tables, BuffersNameLayoutsOfTheirShapeAndOrdersArePlaces) {
  EXPECT_THAT(verdict_of(with("layout = \"1\"", "layout = \"2\"")),
              HasSubstr("rule L2: there is no layout '2'"));
  EXPECT_THAT(verdict_of(with("@row : f32[8, 8]", "@row : f32[64]")),
              HasSubstr("rule L2: layout '1' is not of the shape of buffer 'row'"));
  EXPECT_THAT(verdict_of(with("\"registers\", layout = \"0\"", "\"registers\"")),
              HasSubstr("rule L2: buffer 'x' has a space and no layout"));
  EXPECT_THAT(verdict_of(with("4, 9, 18", "4, 4, 18")),
              HasSubstr("the order of buffer 'slots' does not give"));
  EXPECT_THAT(verdict_of(with("18, 36]", "18]")),
              HasSubstr("the order of buffer 'slots' does not give"));
  EXPECT_THAT(verdict_of(with("align = 1024", "align = 100")), HasSubstr("aligned to 100"));
  EXPECT_THAT(verdict_of(with("\"registers\"", "\"registers\", private = 1")),
              HasSubstr("is not in shared memory"));
  for (const char* swaps : {"[0, 1, 2]", "[3, 1]", "[0, 3]", "[0, 0]", "[-1, 1]"})
    EXPECT_THAT(verdict_of(with("[0, 1, 2, 2]", swaps)), HasSubstr("the swaps of buffer 'lines'"));
  EXPECT_THAT(verdict_of(with("@lines : f16", "@lines : f32")), HasSubstr("lanes exchange buffer"));
  EXPECT_THAT(verdict_of(with("3, space = \"shared\"", "3, space = \"registers\"")),
              HasSubstr("rule L2: buffer 'slots' has slots"));
  EXPECT_THAT(verdict_of(with("layout = \"0\", into", "layout = \"7\", into")),
              HasSubstr("there is no layout '7'"));
}

TEST(Tables, ProgramsThatShareABlockHaveNoSharedMemory) {
  EXPECT_THAT(verdict_of(with("programs = 1", "programs = 4")),
              HasSubstr("rule L6: programs share a block"));
  EXPECT_THAT(verdict_of(with("warps = 2, programs = 1, cluster = 1", "warps = 1, cluster = 2")),
              HasSubstr("rule L6: a program is spread over a cluster, and buffer 'slots'"));
}

TEST(Tables, BelongToStageLaid) {
  // A pass may have found how many warps there are (add_warps).
  EXPECT_EQ(verdict_of("kernel @k() tile {\n shape {warps = 2}\n}"),
            verdict_of("kernel @k() tile {\n}"));
  EXPECT_THAT(
      verdict_of("kernel @k() tile {\n buffer @b : f32[4] {slots = 1, space = \"shared\"}\n}"),
      HasSubstr("which belongs to stage laid"));
}

// A product of 16 x 8 x 16 as the instruction has it.
std::string product(const char* attributes, const char* layout) {
  return verdict_of(
      std::string("kernel @k(%a: f16[16, 16], %b: f16[16, 8], %c: f32[16, 8]) laid {\n"
                  "shape {warps = 1}\nlayout #0 [16, 8] {") +
      layout +
      "}\nbuffer @c : f32[16, 8] {space = \"registers\", layout = \"0\"}\n"
      "%d = dot %a, %b, %c {" +
      attributes + ", into = [\"c\"]} : f32[16, 8]\n}");
}

TEST(Tables, ProductsLieAsTheirUnitWants) {
  constexpr const char* right = "register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []";
  EXPECT_EQ(product("unit = \"mma_f16\", warps = [0, 0, 0, 0, 0]", right), "valid");
  EXPECT_THAT(product("unit = \"mma_f16\", warps = [0, 0, 0, 0, 0]",
                      "register = [64, 1], lane = [2, 4, 8, 16, 32], warp = []"),
              HasSubstr("rule L5: the result does not lie as the unit"));
  EXPECT_THAT(product("unit = \"mma_f17\", warps = [0, 0, 0, 0, 0]", right),
              HasSubstr("'mma_f17' is no unit"));
  EXPECT_THAT(product("unit = \"mma_f16\", warps = [0, 1]", right),
              HasSubstr("`warps` are five numbers"));
  EXPECT_THAT(product("unit = \"mma_f16\", warps = [0, 1, 0, 0, 0]", right),
              HasSubstr("smaller than an instruction"));
}

}  // namespace
}  // namespace tilewright::ir
