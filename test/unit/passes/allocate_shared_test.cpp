// SPDX-License-Identifier: Apache-2.0
// passes/allocate_shared_test.cpp — which ops get scratch, and where buffers of shared memory lie.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis/buffer_lives.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/laid/add_scratch.h"
#include "passes/laid/allocate_shared.h"
#include "passes/laid/assign_layouts.h"
#include "passes/laid/place_tiles.h"
#include "passes/passes.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

ir::Kernel allocated(const std::string& text) {
  ir::Kernel kernel = ir::parse(text);
  ir::verify(kernel);
  const Target target = Target::parse("sm_90a");
  const LaidFacts facts(kernel, kernel.shape.warps * kernel.shape.cluster * target.warp_size);
  assign_layouts(kernel, facts, target);
  place_tiles(kernel, facts, {});
  add_scratch(kernel, facts);
  allocate_shared(kernel, facts);
  ir::verify(kernel);
  const std::string printed = ir::print(kernel);
  EXPECT_EQ(ir::print(ir::parse(printed)), printed);
  return kernel;
}

// Tiles of 64x64 that are turned round on their way, one after the other.
std::string turns(int count, int warps = 4) {
  std::string out = fmt::format(
      "kernel @turn(%p: *f32 {{divisible = 16}}) laid {{\nshape {{warps = {}}}\n", warps);
  for (int i = 0; i < count; ++i) out += fmt::format("buffer @x{} : f32[64, 64]\n", i);
  out += "%one = constant {value = 1} : i64\n%by = constant {value = 64} : i64\n";
  for (int i = 0; i < count; ++i)
    out += fmt::format(
        "%x{0} = sweep {{shape = [64, 64], into = [\"x{0}\"]}} : f32[64, 64] {{\n"
        "%from{0} = affine %p, %by, %one : *f32[64, 64]\n%y{0} = load %from{0} : f32[64, 64]\n"
        "yield %y{0} }}\n"
        "sweep {{shape = [64, 64]}} {{\n%t{0} = permute %x{0} {{order = [1, 0]}} : f32[64, 64]\n"
        "%to{0} = affine %p, %by, %one : *f32[64, 64]\nstore %to{0}, %t{0}\nyield }}\n",
        i);
  return out + "}";
}

TEST(AllocateShared, BuffersOfOtherTimesHaveOnePlace) {
  const ir::Kernel kernel = allocated(turns(2));
  ASSERT_EQ(kernel.buffers.size(), 2u);
  EXPECT_EQ(kernel.buffers[0].offset, 0);
  EXPECT_EQ(kernel.buffers[1].offset, 0);
  EXPECT_EQ(shared_bytes_of(kernel), 64 * 64 * 4);
}

TEST(AllocateShared, BuffersThatALoopUsesLiveAsLongAsIt) {
  const ir::Kernel kernel = allocated(R"(
kernel @loop(%p: *f32 {divisible = 16}, %n: i32) laid {
  shape {warps = 4}
  buffer @x : f32[64, 64]
  buffer @y : f32[64, 64]
  %zero = constant {value = 0} : i32
  %step = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %by = constant {value = 64} : i64
  %x = sweep {shape = [64, 64], into = ["x"]} : f32[64, 64] {
    %from = affine %p, %by, %one : *f32[64, 64]
    %x0 = load %from : f32[64, 64]
    yield %x0
  }
  for %zero, %n, %step (%i: i32) {
    sweep {shape = [64, 64]} {
      %t = permute %x {order = [1, 0]} : f32[64, 64]
      %to = affine %p, %by, %one : *f32[64, 64]
      store %to, %t
      yield
    }
    %y = sweep {shape = [64, 64], into = ["y"]} : f32[64, 64] {
      %from2 = affine %p, %by, %one : *f32[64, 64]
      %y0 = load %from2 : f32[64, 64]
      yield %y0
    }
    sweep {shape = [64, 64]} {
      %t2 = permute %y {order = [1, 0]} : f32[64, 64]
      %to2 = affine %p, %by, %one : *f32[64, 64]
      store %to2, %t2
      yield
    }
    yield
  }
})");
  // The next round reads @x again.
  EXPECT_EQ(kernel.buffers[0].offset, 0);
  EXPECT_EQ(kernel.buffers[1].offset, 64 * 64 * 4);
  const std::vector<ir::BufferLife> lives = ir::buffer_lives(kernel);
  EXPECT_TRUE(lives[0].meets(lives[1]));
  EXPECT_GT(lives[1].first, lives[0].first);
}

std::string row_with(const std::string& op, int warps, const std::string& tables = "") {
  return fmt::format(R"(
kernel @row_with(%p: *f32 {{divisible = 16}}, %q: *f32 {{divisible = 16}}) laid {{
  shape {{warps = {}}}
  buffer @x : f32[1024]
  {}
  %one = constant {{value = 1}} : i64
  %x = sweep {{shape = [1024], into = ["x"]}} : f32[1024] {{
    %from = affine %p, %one : *f32[1024]
    %x0 = load %from : f32[1024]
    yield %x0
  }}
  {}
  sweep {{shape = [1024]}} {{
    %to = affine %q, %one : *f32[1024]
    store %to, %y
    yield
  }}
}})",
                     warps, tables, op);
}

TEST(AddScratch, WarpsOfAReductionMeet) {
  const std::string text = R"(
  %m = sweep {shape = [1024]} : f32 {
    %m0 = reduce %x {axis = 0} : f32 (%a: f32, %b: f32) {
      %c = max %a, %b : f32
      yield %c
    }
    yield %m0
  }
  %y = sweep {shape = [1024], into = ["y"]} : f32[1024] {
    %all = splat %m : f32[1024]
    %d = sub %x, %all : f32[1024]
    yield %d
  })";
  const std::string printed = ir::print(allocated(row_with(text, 4, "buffer @y : f32[1024]")));
  EXPECT_THAT(
      printed,
      HasSubstr("  buffer @m_scratch : i64[4] {scratch = 1, space = \"shared\", offset = 0}\n"));
  EXPECT_THAT(printed, HasSubstr("{axis = 0, scratch = \"m_scratch\"}"));
  EXPECT_THAT(ir::print(allocated(row_with(text, 1, "buffer @y : f32[1024]"))),
              Not(HasSubstr("scratch")));
}

TEST(AddScratch, SortedAndCountedElementsLieThere) {
  const std::string sorted = ir::print(allocated(row_with(
      "%y = sort %x {first = 1, last = 10, order = \"ascending\", into = [\"y\"]} : f32[1024]", 4,
      "buffer @y : f32[1024]")));
  EXPECT_THAT(
      sorted,
      HasSubstr("buffer @y_scratch : f32[1024] {scratch = 1, space = \"shared\", offset = 0}"));
}

TEST(AddScratch, ScratchAndOffsetsAreTakenAway) {
  ir::Kernel kernel = allocated(row_with(
      "%y = sort %x {first = 1, last = 10, order = \"ascending\", into = [\"y\"]} : f32[1024]", 4,
      "buffer @y : f32[1024]"));
  clear_scratch(kernel);
  ir::verify(kernel);
  EXPECT_THAT(ir::print(kernel), Not(HasSubstr("scratch")));
  EXPECT_THAT(ir::print(kernel), Not(HasSubstr("offset")));
}

// Tiles too big for registers that change places go through a third one.
TEST(AddScratch, TilesThatChangePlacesPassThroughSharedMemory) {
  const ir::Kernel kernel = allocated(R"(
kernel @swap(%p: *f32 {divisible = 16}, %n: i32) laid {
  shape {warps = 1}
  buffer @u : f32[64, 64]
  buffer @v : f32[64, 64]
  %zero = constant {value = 0} : i32
  %step = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %by = constant {value = 64} : i64
  %a, %b = sweep {shape = [64, 64], into = ["u", "v"]} : f32[64, 64], f32[64, 64] {
    %from = affine %p, %by, %one : *f32[64, 64]
    %a0 = load %from : f32[64, 64]
    %b0 = add %a0, %a0 : f32[64, 64]
    yield %a0, %b0
  }
  %c, %d = for %zero, %n, %step, %a, %b {into = ["u", "v"]} : f32[64, 64], f32[64, 64] (%i: i32, %u: f32[64, 64], %v: f32[64, 64]) {
    yield %v, %u
  }
  sweep {shape = [64, 64]} {
    %to = affine %p, %by, %one : *f32[64, 64]
    %e = sub %c, %d : f32[64, 64]
    store %to, %e
    yield
  }
})");
  EXPECT_THAT(ir::print(kernel),
              HasSubstr("into = [\"u\", \"v\"], scratch = [\"next\", \"next_1\"]}"));
  EXPECT_EQ(shared_bytes_of(kernel), 4 * 64 * 64 * 4);
}

std::string refusal_of(std::string_view pass, const std::string& text, const char* target) {
  ir::Kernel kernel = ir::parse(text);
  try {
    pass_named(pass).run(kernel, Target::parse(target));
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(TablePasses, SayWhatTheyLack) {
  EXPECT_EQ(refusal_of("assign_layouts", turns(1), "avx2"),
            "assign_layouts is for machines with threads, and x86-64-avx2 has none: give --target "
            "sm_90a");
  EXPECT_EQ(refusal_of("allocate_shared", "kernel @k() tile {\n}", "sm_90a"),
            "allocate_shared is for kernels of stage laid that have a shape, and 'k' is none: opt "
            "--sweeps makes one");
  EXPECT_EQ(refusal_of("place_tiles", turns(1), "sm_90a"),
            "place_tiles needs the layouts of kernel 'turn': run assign_layouts first");
  ir::Kernel kernel = ir::parse(turns(1));
  pass_named("assign_layouts").run(kernel, Target::parse("sm_90a"));
  for (const char* pass : {"add_scratch", "allocate_shared"})
    EXPECT_EQ(refusal_of(pass, ir::print(kernel), "sm_90a"),
              fmt::format("{} needs to know where the tiles of kernel 'turn' live: run place_tiles "
                          "first",
                          pass));
}

// One by one they write what an emitter's run of all of them does; a pass that runs again takes
// back what later ones made of the old layouts.
TEST(TablePasses, GiveTheSameOneByOne) {
  const std::string all = ir::print(allocated(turns(2)));
  ir::Kernel kernel = ir::parse(turns(2));
  for (const PassEntry& pass : laid_passes()) pass.run(kernel, Target::parse("sm_90a"));
  EXPECT_EQ(ir::print(kernel), all);
  pass_named("place_tiles").run(kernel, Target::parse("sm_90a"));
  ir::verify(kernel);
  EXPECT_THAT(ir::print(kernel), Not(HasSubstr("offset")));
}

}  // namespace
}  // namespace tilewright
