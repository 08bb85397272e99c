// SPDX-License-Identifier: Apache-2.0
// passes/defer_stores_test.cpp — results that are stored beside the next program's products are the
// same bits, however many rounds and programs there are.
#include "passes/defer_stores.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/split_roles.h"
#include "product_kernel.h"

namespace tilewright {
namespace {

constexpr int bm = 32, bn = 128;

std::string text(const std::string& mask = "%inside") {
  return product_text({.mask = mask, .bm = bm, .bn = bn, .bk = 16});
}

ir::Kernel with_roles(const std::string& source, bool persists = true) {
  ir::Kernel kernel = at_tile(source);
  EXPECT_TRUE(split_roles(
      kernel, {.num_warps = 8, .num_stages = 2, .persists = persists, .asks_model = false}));
  return kernel;
}

TEST(DeferStores, ChangesNoResult) {
  ir::Kernel deferred = with_roles(text());
  ASSERT_TRUE(defer_stores(deferred, {.num_warps = 8}));
  ir::verify(deferred);
  const ir::Kernel plain = at_tile(text(), false);
  for (const auto& [m, n, k] : {std::tuple{32, 128, 16},
                                {33, 129, 33},
                                {100, 300, 15},
                                {1, 1, 1},
                                {40, 256, 0},
                                {64, 65, 100}})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      ProductMemory before(m, n, k), after(m, n, k);
      before.run(plain, 0, bm, bn);
      after.run(deferred, seed, bm, bn);
      EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
    }
}

// Tiles of a loop of the kernel's own, which are in order.
TEST(DeferStores, ChangesNoResultOfAKernelThatLoopsByItself) {
  ir::Kernel deferred = with_roles(looping(text()));
  ASSERT_TRUE(defer_stores(deferred, {.num_warps = 8}));
  ir::verify(deferred);
  int barriers = 0;
  ir::walk(deferred.body, [&](const ir::Op& op) { barriers += op.kind == ir::OpKind::Barrier; });
  EXPECT_EQ(barriers, 1);
  const ir::Kernel plain = at_tile(looping(text()), false);
  for (const auto& [m, n, k] :
       {std::tuple{32, 128, 16}, {33, 129, 33}, {100, 300, 15}, {40, 256, 0}})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      ProductMemory before(m, n, k), after(m, n, k);
      before.run(plain, 0, bm, bn);
      after.run(deferred, seed, bm, bn);
      EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
    }
}

TEST(DeferStores, GivesTheRoomOfTheResultToTheRing) {
  ir::Kernel kernel = with_roles(text());
  const std::int64_t slot = (bm + bn) * 16 * 2;
  ASSERT_TRUE(defer_stores(
      kernel, {.num_warps = 8, .most_slots = 6, .shared_bytes = 5 * slot + bm * 128 + 1024}));
  EXPECT_EQ(kernel.buffers[0].slots, 5);
  EXPECT_EQ(kernel.buffers[1].slots, 5);
  const std::string printed = ir::print(kernel);
  EXPECT_EQ(ir::print(ir::parse(printed, "again")), printed);
}

TEST(DeferStores, LeavesWhatItCannotHold) {
  const auto stays = [](ir::Kernel kernel) {
    const std::string before = ir::print(kernel);
    EXPECT_FALSE(defer_stores(kernel, {.num_warps = 8}));
    return ir::print(kernel) == before;
  };
  EXPECT_TRUE(stays(with_roles(text(), false)));  // each block has one program
  EXPECT_TRUE(stays(with_roles(product_text({.bm = 32, .bn = 64, .bk = 16}))));  // one part
  std::string wide = text();
  wide.replace(wide.find("%out = cast %sum : f16"), 22, "%out = neg %sum : f32");
  wide = replaced(wide, "%c: *f16", "%c: *f32");
  wide = replaced(wide, "%cs = splat %c : *f16", "%cs = splat %c : *f32");
  wide = replaced(wide, "%to = offset %cs, %c_off : *f16", "%to = offset %cs, %c_off : *f32");
  EXPECT_TRUE(stays(with_roles(wide)));  // sums and results together are too many words
  std::string twice = text();
  twice = replaced(twice, "  store %to, %out", "  store %to, %out, %inside\n  store %to, %out");
  EXPECT_TRUE(stays(with_roles(twice)));  // two stores, whose order counts
  // A loop of the kernel's own whose next tile reads what this one may store.
  std::string reads = looping(text());
  reads = replaced(reads, "  %out = cast %sum : f16[32, 128]\n",
                   "  %first_out = load %c : f16\n  %firsts_out = splat %first_out : f16[32, 128]\n"
                   "  %made = cast %sum : f16[32, 128]\n"
                   "  %out = add %made, %firsts_out : f16[32, 128]\n");
  EXPECT_TRUE(stays(with_roles(reads)));
}

}  // namespace
}  // namespace tilewright
