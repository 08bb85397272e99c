// SPDX-License-Identifier: Apache-2.0
// passes/split_roles_chain_test.cpp — roles where a product waits for another one and loops stand
// in a row, as in attention: the same bits in the interpreter, and steps that are taken out are
// named.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/split_roles.h"
#include "product_kernel.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ir::OpKind;
using testing::HasSubstr;

// Per head `keys` rows of 16; out = out / 2 + max(q x k', row maximum of it / 2) x v, round by
// round.
std::string chain_text() {
  const auto loop = [](const std::string& number, const std::string& from, const std::string& to,
                       const std::string& sum, const std::string& row) {
    return replaced(replaced(replaced(replaced(replaced(R"(
  %out@, %row@ = for FROM, TO, %size, SUM, ROW : f32[16, 16], i32 (%i@: i32, %acc@: f32[16, 16], %at@: i32) {
    %far@ = cast %at@ : i64
    %skip@ = mul %far@, %line : i64
    %k_from@ = offset %k, %skip@ : *f16
    %k_tile@ = affine %k_from@, %line, %step : *f16[16, 16]
    %low@ = neg %far@ : i64
    %high@ = sub %all, %far@ : i64
    %inside@ = bounds %low@, %high@, %none_far, %line : b1[16, 16]
    %ks@ = load %k_tile@, %inside@ : f16[16, 16]
    %turned@ = permute %ks@ {order = [1, 0]} : f16[16, 16]
    %scores@ = dot %qs, %turned@, %zeros {unit = "wgmma"} : f32[16, 16]
    %most@ = reduce %scores@ {axis = 1} : f32[16] (%x@: f32, %y@: f32) {
      %m@ = max %x@, %y@ : f32
      yield %m@
    }
    %tall@ = reshape %most@ : f32[16, 1]
    %wide@ = broadcast %tall@ : f32[16, 16]
    %low_score@ = mul %wide@, %half : f32[16, 16]
    %kept@ = max %scores@, %low_score@ : f32[16, 16]
    %weights@ = cast %kept@ : f16[16, 16]
    %v_from@ = offset %v, %skip@ : *f16
    %v_tile@ = affine %v_from@, %line, %step : *f16[16, 16]
    %vs@ = load %v_tile@, %inside@ : f16[16, 16]
    %scaled@ = mul %acc@, %half : f32[16, 16]
    %next@ = dot %weights@, %vs@, %scaled@ {unit = "wgmma"} : f32[16, 16]
    %at_next@ = add %at@, %size : i32
    yield %next@, %at_next@
  })",
                                                        "@", number),
                                               "FROM", from),
                                      "TO", to),
                             "SUM", sum),
                    "ROW", row);
  };
  return R"(kernel @chain(%q: *f16 {divisible = 16}, %k: *f16 {divisible = 16}, %v: *f16 {divisible = 16}, %o: *f32 {divisible = 16}, %heads: i32, %keys: i32, %split: i32) tile {
  %head = program_id {axis = 1} : i32
  %none = constant {value = 0} : i32
  %size = constant {value = 16} : i32
  %none_far = constant {value = 0} : i64
  %line = constant {value = 16} : i64
  %step = constant {value = 1} : i64
  %count = mul %heads, %keys : i32
  %all = cast %count : i64
  %first = mul %head, %keys : i32
  %later = add %first, %split : i32
  %zeros = constant {value = 0.0} : f32[16, 16]
  %half = constant {value = 0.5} : f32[16, 16]
  %q_tile = affine %q, %line, %step : *f16[16, 16]
  %qs = load %q_tile : f16[16, 16])" +
         loop("1", "%none", "%split", "%zeros", "%first") +
         loop("2", "%split", "%keys", "%out1", "%later") + R"(
  %to_row = mul %head, %size : i32
  %to_far = cast %to_row : i64
  %to_skip = mul %to_far, %line : i64
  %o_from = offset %o, %to_skip : *f32
  %o_tile = affine %o_from, %line, %step : *f32[16, 16]
  store %o_tile, %out2
}
)";
}

struct ChainMemory {
  std::vector<std::uint16_t> q, k, v;
  std::vector<float> o = std::vector<float>(2 * 256, -1.0F);
  std::int64_t keys, split;

  ChainMemory(std::int64_t count, std::int64_t first) : keys(count), split(first) {
    std::mt19937 random(1);
    for (auto* to : {&q, &k, &v})
      for (std::int64_t i = 0; i < (to == &q ? 16 : 2 * keys) * 16; ++i)
        to->push_back(static_cast<std::uint16_t>(0x3000 + random() % 0x400 + (random() & 0x8000)));
  }
  void run(const ir::Kernel& kernel, std::uint64_t seed = 0) {
    const auto buffer = [](const char* name, auto& data) {
      return ir::InterpretBuffer{
          .name = name, .data = data.data(), .bytes = data.size() * sizeof(data[0])};
    };
    const ir::InterpretBuffer buffers[] = {buffer("q", q), buffer("k", k), buffer("v", v),
                                           buffer("o", o)};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0},
                                               ir::InterpretPointer{1},
                                               ir::InterpretPointer{2},
                                               ir::InterpretPointer{3},
                                               std::int64_t{2},
                                               keys,
                                               split};
    ir::InterpretOptions options;
    options.grid[1] = 2;
    options.role_seed = seed;
    ir::interpret(kernel, buffers, arguments, options);
  }
};

ir::Kernel chain_with_roles(bool delays = false) {
  ir::Kernel kernel = ir::parse(chain_text(), "chain.tir");
  std::vector<std::string> notes;
  EXPECT_TRUE(split_roles(
      kernel,
      {.num_warps = 8, .num_stages = 2, .delays = delays, .asks_model = false, .notes = &notes}))
      << testing::PrintToString(notes);
  ir::verify(kernel);
  return kernel;
}

TEST(SplitRolesChain, ChangesNoResult) {
  for (const bool delays : {false, true}) {
    const ir::Kernel roles = chain_with_roles(delays);
    for (const auto& [keys, split] : {std::pair{16, 0}, {16, 16}, {80, 32}, {40, 16}, {0, 0}})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        ChainMemory before(keys, split), after(keys, split);
        before.run(ir::parse(chain_text(), "chain.tir"));
        after.run(roles, seed);
        EXPECT_EQ(before.o, after.o) << keys << " " << split << " " << delays;
      }
  }
}

// The rows of a head behind a pointer of its own: the head is a dimension that the tile has one of.
TEST(SplitRolesChain, TakesHeadsAsADimension) {
  std::string text = chain_text();
  text = replaced(text, "%first = mul %head, %keys : i32",
                  "%first = mul %head, %none : i32\n"
                  "  %rows_far = cast %keys : i64\n"
                  "  %head_far = cast %head : i64\n"
                  "  %head_row = mul %head_far, %rows_far : i64\n"
                  "  %head_skip = mul %head_row, %line : i64\n"
                  "  %k_head = offset %k, %head_skip : *f16\n"
                  "  %v_head = offset %v, %head_skip : *f16");
  text = replaced(text, "offset %k, %skip", "offset %k_head, %skip");
  text = replaced(text, "offset %v, %skip", "offset %v_head, %skip");
  text = replaced(text, "sub %all, %far", "sub %rows_far, %far");
  for (const bool delays : {false, true}) {
    ir::Kernel roles = ir::parse(text, "chain.tir");
    ASSERT_TRUE(split_roles(
        roles, {.num_warps = 8, .num_stages = 2, .delays = delays, .asks_model = false}));
    ir::verify(roles);
    const std::string printed = ir::print(roles);
    EXPECT_THAT(printed, HasSubstr("map @ks1_map : %k [1 = 16 by 1, 0 = %keys by 16, "
                                   "-1 = 2147483647 by 16 %keys]"));
    EXPECT_EQ(ir::print(ir::parse(printed, "again")), printed);
    for (const auto& [keys, split] : {std::pair{80, 32}, {40, 16}, {16, 16}}) {
      ChainMemory before(keys, split), after(keys, split);
      before.run(ir::parse(text, "chain.tir"));
      after.run(roles, 3);
      EXPECT_EQ(before.o, after.o) << keys << " " << split << " " << delays;
    }
  }
}

// The second product of a round stands behind the first one of the next, with a tile of zeros
// before the first round; the last product stands behind the loops.
TEST(SplitRolesChain, DelaysTheSecondProduct) {
  const std::string text = ir::print(chain_with_roles(true));
  const auto count = [&](std::string_view what) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("= dot "), 2 + 2 + 1) << text;
  EXPECT_EQ(count("pending = 1"), 2 + 2) << text;
  EXPECT_EQ(count("copy_map "), 2 + 2 + 1) << text;
  EXPECT_EQ(ir::print(ir::parse(text, "again")), text);
}

// What others see of the sum, or of the tile, keeps the products in their rounds.
TEST(SplitRolesChain, DelaysNoProductThatOthersWaitFor) {
  const auto dots = [](const std::string& text) {
    ir::Kernel kernel = ir::parse(text, "chain.tir");
    EXPECT_TRUE(split_roles(
        kernel, {.num_warps = 8, .num_stages = 2, .delays = true, .asks_model = false}));
    ir::verify(kernel);
    int found = 0;
    ir::walk(kernel.body, [&](const ir::Op& op) { found += op.kind == OpKind::Dot; });
    return found;
  };
  EXPECT_EQ(dots(chain_text()), 5);
  EXPECT_EQ(dots(replaced(chain_text(), "for %split, %keys, %size, %out1,",
                          "for %split, %keys, %size, %zeros,")),
            2);  // of the second loop: nobody wants the first one's
  EXPECT_EQ(
      dots(replaced(chain_text(), "dot %weights1, %vs1, %scaled1", "dot %qs, %vs1, %scaled1")), 3);
}

TEST(SplitRolesChain, HasARingForEachTileAndOnePosition) {
  const std::string text = ir::print(chain_with_roles());
  EXPECT_THAT(text, HasSubstr("map @ks1_map : %k [1 = 16 by 1, 0 = %heads %keys by 16]"));
  EXPECT_THAT(text, HasSubstr("map @vs1_map : %v [1 = 16 by 1, 0 = %heads %keys by 16]"));
  EXPECT_THAT(text, HasSubstr("ring @ks1_ring : @ks1_buffer"));
  EXPECT_THAT(text, HasSubstr("ring @vs1_ring : @vs1_buffer"));
  EXPECT_EQ(ir::print(ir::parse(text, "again")), text);
}

// A slot is given back behind the product that reads it, not before.
TEST(SplitRolesChain, EveryStepOfTheProtocolIsMissed) {
  const auto problem_without = [](OpKind kind, const char* ring, bool delays) {
    ir::Kernel kernel = chain_with_roles(delays);
    ir::walk(kernel.body, [&](ir::Op& op) {
      for (ir::Region& region : op.regions)
        std::erase_if(region.ops,
                      [&](const ir::Op* o) { return o->kind == kind && o->text("ring") == ring; });
    });
    std::string what;
    for (std::uint64_t seed = 1; seed <= 8 && what.empty(); ++seed) {
      ChainMemory memory(160, 80);
      try {
        memory.run(kernel, seed);
      } catch (const Error& error) {
        what = error.what();
      }
    }
    return what;
  };
  for (const bool delays : {false, true})
    for (const char* ring : {"ks1_ring", "vs1_ring"}) {
      EXPECT_THAT(problem_without(OpKind::Release, ring, delays), HasSubstr("for ever"));
      EXPECT_THAT(problem_without(OpKind::Await, ring, delays), HasSubstr("before it was awaited"));
      EXPECT_NE(problem_without(OpKind::Acquire, ring, delays), "");
    }
}

TEST(SplitRolesChain, SaysWhyItStays) {
  const auto reason = [](std::string text) {
    ir::Kernel kernel = ir::parse(text, "chain.tir");
    std::vector<std::string> notes;
    EXPECT_FALSE(split_roles(
        kernel, {.num_warps = 8, .num_stages = 2, .asks_model = false, .notes = &notes}));
    return notes.empty() ? "" : notes[0];
  };
  EXPECT_THAT(reason(replaced(chain_text(), "offset %v, %skip2", "offset %k, %skip2")),
              HasSubstr("read different tiles"));
  EXPECT_THAT(reason(replaced(chain_text(), "%weights1 = cast %kept1 : f16[16, 16]",
                              "%plain1 = cast %kept1 : f16[16, 16]\n"
                              "    %weights1 = add %plain1, %ks1 : f16[16, 16]")),
              HasSubstr("is computed with, too"));
  EXPECT_THAT(reason(replaced(chain_text(), "bounds %low1, %high1", "bounds %low1, %none_far")),
              HasSubstr("is no tile of a tensor"));
  EXPECT_THAT(reason(replaced(chain_text(), "%v: *f16 {divisible = 16}", "%v: *f16")),
              HasSubstr("is no tile of a tensor"));
}

}  // namespace
}  // namespace tilewright
