// SPDX-License-Identifier: Apache-2.0
// passes/split_roles_test.cpp — a kernel with roles computes the same bits in the interpreter, in
// every order of its roles, and each step of the protocol that is taken out is named.
#include "passes/split_roles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "product_kernel.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ir::OpKind;
using testing::HasSubstr;

ir::Kernel with_roles(bool persists = true, const std::string& text = product_text()) {
  ir::Kernel kernel = at_tile(text);
  EXPECT_TRUE(split_roles(
      kernel, {.num_warps = 8, .num_stages = 2, .persists = persists, .asks_model = false}))
      << ir::print(kernel);
  ir::verify(kernel);
  return kernel;
}

ir::Op& first(ir::Kernel& kernel, OpKind kind) {
  ir::Op* found = nullptr;
  ir::walk(kernel.body, [&](ir::Op& op) {
    if (found == nullptr && op.kind == kind) found = &op;
  });
  return *found;
}

std::string problem(const ir::Kernel& kernel, std::uint64_t seed) {
  ProductMemory memory(33, 17, 50);
  try {
    memory.run(kernel, seed);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SplitRoles, ChangesNoResult) {
  for (const bool persists : {true, false}) {
    const ir::Kernel roles = with_roles(persists);
    for (const auto& [m, n, k] :
         {std::tuple{16, 16, 16}, {17, 15, 33}, {15, 17, 31}, {1, 1, 1}, {48, 31, 0}, {33, 40, 47}})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        ProductMemory before(m, n, k), after(m, n, k);
        before.run(at_tile(product_text(), false));
        after.run(roles, seed);
        EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
      }
  }
}

// Three rounds of half the depth fit where two of the whole would not.
TEST(SplitRoles, TakesDeepRoundsIntoShallowOnes) {
  const std::string text = product_text({.bk = 128});
  const auto with_room_for = [&](std::int64_t bytes) {
    ir::Kernel kernel = at_tile(text);
    EXPECT_TRUE(split_roles(
        kernel, {.num_warps = 8, .num_stages = 2, .shared_bytes = bytes, .asks_model = false}));
    ir::verify(kernel);
    return kernel;
  };
  const std::int64_t round = 2 * 16 * 128 * 2, others = 16 * 16 * 2 + 1024;
  const ir::Kernel whole = with_room_for(others + 3 * round);
  EXPECT_THAT(ir::print(whole), HasSubstr("buffer @x_buffer : f16[16, 128] {slots = 3}"));
  const ir::Kernel halves = with_room_for(others + 2 * round);
  EXPECT_THAT(ir::print(halves), HasSubstr("buffer @x_buffer : f16[16, 64] {slots = 3}"));
  EXPECT_THAT(ir::print(halves), HasSubstr("buffer @y_buffer : f16[64, 16] {slots = 3}"));
  for (const auto& [m, n, k] :
       {std::tuple{16, 16, 128}, {17, 15, 129}, {15, 17, 63}, {1, 1, 1}, {48, 31, 0}, {33, 40, 300}})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      ProductMemory before(m, n, k), after(m, n, k);
      before.run(at_tile(text, false));
      after.run(halves, seed);
      EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
    }
}

TEST(SplitRoles, IsPrintedAndRead) {
  const ir::Kernel kernel = with_roles();
  const std::string text = ir::print(kernel);
  EXPECT_THAT(text, HasSubstr("map @x_map : %a [1 = %K by 1, 0 = %M by %sa]"));
  EXPECT_THAT(text, HasSubstr("map @y_map : %b [1 = %N by 1, 0 = %K by %sb]"));
  EXPECT_THAT(text, HasSubstr("ring @ring : @x_buffer, @y_buffer"));
  EXPECT_EQ(ir::print(ir::parse(text, "again")), text);
}

// Float32 for products of tf32 is rounded by its copies, and no other type is.
TEST(SplitRoles, RoundsFloat32ForTf32) {
  std::string text = product_text();
  for (const char* name : {"%a: *", "%b: *", "%as = splat %a : *", "%bs = splat %b : *",
                           "%a_first = offset %as, %a_off : *", "%b_first = offset %bs, %b_off : *",
                           "%x = load %a_now, %a_mask : ", "%y = load %b_now, %b_mask : ",
                           "%a_next = offset %a_now, %a_step : *",
                           "%b_next = offset %b_now, %b_step : *", "%a_now: *", "%b_now: *"})
    text = replaced(text, std::string(name) + "f16", std::string(name) + "f32");
  text = replaced(text, "%nothing, %b_first : *f16[16, 16], f32[16, 16], *f16",
                  "%nothing, %b_first : *f32[16, 16], f32[16, 16], *f32");
  ir::Kernel kernel = at_tile(text);
  ASSERT_TRUE(split_roles(kernel, {.num_warps = 8, .num_stages = 2, .asks_model = false}))
      << ir::print(kernel);
  ir::verify(kernel);
  const std::string printed = ir::print(kernel);
  EXPECT_THAT(printed, HasSubstr("map @x_map : %a [1 = %K by 1, 0 = %M by %sa] tf32"));
  EXPECT_EQ(ir::print(ir::parse(printed, "again")), printed);
  EXPECT_THAT(ir::print(with_roles()), testing::Not(HasSubstr("tf32")));
  kernel.maps[0].argument = 2;  // float16
  EXPECT_THROW(ir::verify(kernel), InternalError);
}

// A stride that nothing is said of, in launches where it is positive.
TEST(SplitRoles, TakesArgumentsThatArePositive) {
  std::string text = product_text();
  text = replaced(text, "  assume %pa\n", "");
  text = replaced(text, "%sa: i32 {divisible = 16}", "%sa: i32 {divisible = 16, positive = 1}");
  const ir::Kernel kernel = with_roles(true, text);
  const std::string printed = ir::print(kernel);
  EXPECT_THAT(printed, HasSubstr("%sa: i32 {divisible = 16, positive = 1}"));
  EXPECT_EQ(ir::print(ir::parse(printed, "again")), printed);
}

TEST(SplitRoles, LeavesWhatIsNoTileOfATensor) {
  const auto stays = [](std::string text) {
    ir::Kernel kernel = at_tile(text);
    return !split_roles(kernel, {.num_warps = 8, .num_stages = 2, .asks_model = false});
  };
  EXPECT_TRUE(stays(product_text({.mask = "%rows_all"})));  // columns that wrap
  EXPECT_TRUE(stays(product_text({.bn = 8})));  // lines of 16 bytes, which no map writes in order
  std::string text = product_text();
  text.replace(text.find("%sa: i32 {divisible = 16}"), 25, "%sa: i32");  // rows that begin anywhere
  EXPECT_TRUE(stays(text));
  text = product_text();
  text.replace(text.find("assume %pa"), 10, "");  // a stride that may be negative
  EXPECT_TRUE(stays(text));
  text = product_text();  // one that may be 0: the same row again and again
  text.replace(text.find("compare %sa, %none {is = \"gt\"}"), 30, "compare %sa, %none {is = \"ge\"}");
  EXPECT_TRUE(stays(text));
  text = product_text();
  text.replace(text.find("%cs = splat %c"), 14, "%cs = splat %a");  // what is loaded is stored
  EXPECT_TRUE(stays(text));
  const auto with_other = [](const char* number) {  // where the mask is off; maps write zeros there
    return replaced(product_text(), "%x = load %a_now, %a_mask : f16[16, 16]",
                    fmt::format("%other = constant {{value = {}}} : f16[16, 16]\n"
                                "    %x = load %a_now, %a_mask, %other : f16[16, 16]",
                                number));
  };
  EXPECT_TRUE(stays(with_other("1.0")));
  EXPECT_FALSE(stays(with_other("0.0")));
}

// The producer is ahead of the consumers: what they store and what they multiply is not there yet.
TEST(SplitRoles, LeavesRoundsThatTheProducerCannotKnow) {
  const auto problem_of = [](const std::string& text) {
    ir::Kernel kernel = at_tile(text);
    std::vector<std::string> notes;
    split_roles(kernel, {.num_warps = 8, .num_stages = 2, .asks_model = false, .notes = &notes});
    return notes.empty() ? "" : notes.front();
  };
  const auto with_rounds = [](const std::string& rounds) {
    return replaced(product_text({.wrap = "add %x, %zeros"}), "%rounds = div %k_up, %depth : i32",
                    rounds);
  };
  EXPECT_EQ(problem_of(with_rounds("%given = load %a : f16\n  %rounds = cast %given : i32")), "");
  EXPECT_THAT(problem_of(with_rounds("%given = load %c : f16\n  %rounds = cast %given : i32")),
              HasSubstr("depends on the load"));
  std::string text = looping(with_rounds("%rounds = add %rounds_now, %none : i32"));
  text = replaced(text, "  for %start, %count, %two (%pid: i32) {\n",
                  "  %all = for %start, %count, %two, %two : i32 (%pid: i32, %rounds_now: i32) {\n");
  const auto with_next = [&](const std::string& next) {
    return std::string(text).replace(text.rfind("  yield\n"), 8, next);
  };
  EXPECT_EQ(problem_of(with_next("  %more = add %rounds_now, %one : i32\n  yield %more\n")), "");
  EXPECT_THAT(problem_of(with_next(R"(
  %most = reduce %sum {axis = 1} : f32[16] (%p: f32, %q: f32) {
    %larger = max %p, %q : f32
    yield %larger
  }
  %last = reduce %most {axis = 0} : f32 (%r: f32, %s: f32) {
    %largest = max %r, %s : f32
    yield %largest
  }
  %rounds_then = cast %last : i32
  yield %rounds_then
)")),
              HasSubstr("depends on the product"));
}

// ---- Planted bugs

TEST(SplitRolesProtocol, MissingReleaseIsNamed) {
  ir::Kernel kernel = with_roles();
  ir::walk(kernel.body, [](ir::Op& op) {
    std::vector<ir::Region*> regions;
    for (ir::Region& region : op.regions)
      std::erase_if(region.ops, [](const ir::Op* o) { return o->kind == OpKind::Release; });
  });
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_THAT(problem(kernel, seed), HasSubstr("for ever"));
}

TEST(SplitRolesProtocol, ReleaseWhileAProductReadsIsNamed) {
  ir::Kernel kernel = with_roles();
  ir::Op& release = first(kernel, OpKind::Release);
  release.operands = {
      first(kernel, OpKind::Await).operands[0]};  // of this round, whose product goes on
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_THAT(problem(kernel, seed), testing::AnyOf(HasSubstr("while a product reads it"),
                                                      HasSubstr("before position")));
}

TEST(SplitRolesProtocol, MissingAwaitIsNamed) {
  ir::Kernel kernel = with_roles();
  ir::walk(kernel.body, [](ir::Op& op) {
    for (ir::Region& region : op.regions)
      std::erase_if(region.ops, [](const ir::Op* o) { return o->kind == OpKind::Await; });
  });
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_THAT(problem(kernel, seed), HasSubstr("before it was awaited"));
}

TEST(SplitRolesProtocol, MissingAcquireIsNamed) {
  ir::Kernel kernel = with_roles();
  ir::walk(kernel.body, [](ir::Op& op) {
    for (ir::Region& region : op.regions)
      std::erase_if(region.ops, [](const ir::Op* o) { return o->kind == OpKind::Acquire; });
  });
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_THAT(problem(kernel, seed),
                testing::AnyOf(HasSubstr("was not acquired"), HasSubstr("for ever")));
}

TEST(SplitRolesProtocol, MissingCopyIsNamed) {
  ir::Kernel kernel = with_roles();
  ir::walk(kernel.body, [](ir::Op& op) {
    for (ir::Region& region : op.regions)
      std::erase_if(region.ops, [](const ir::Op* o) {
        return o->kind == OpKind::CopyMap && o->text("buffer") == "y_buffer";
      });
  });
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_THAT(problem(kernel, seed), HasSubstr("for ever"));
}

}  // namespace
}  // namespace tilewright
