// SPDX-License-Identifier: Apache-2.0
// passes/store_by_maps_test.cpp — results that tensor maps store are the same bits, with and
// without stores that are deferred; what is no tile of a tensor stays as it is.
#include "passes/store_by_maps.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/defer_stores.h"
#include "passes/split_roles.h"
#include "product_kernel.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr int stored_rows = 64, stored_columns = 128;

// Lines of the result are aligned, and the next one comes behind the one before.
std::string with_aligned_result(std::string text) {
  text = replaced(std::move(text), "%sc: i32", "%sc: i32 {divisible = 16}");
  return replaced(std::move(text), "  assume %pb\n",
                  "  assume %pb\n  %pc = compare %sc, %none {is = \"gt\"} : b1\n  assume %pc\n");
}

std::string stored_product(const std::string& mask = "%inside") {
  return with_aligned_result(
      product_text({.mask = mask, .bm = stored_rows, .bn = stored_columns, .bk = 16}));
}

ir::Kernel with_map_roles(const std::string& source, bool persists = true) {
  ir::Kernel kernel = at_tile(source);
  EXPECT_TRUE(split_roles(
      kernel, {.num_warps = 8, .num_stages = 2, .persists = persists, .asks_model = false}));
  return kernel;
}

int count_of(const ir::Kernel& kernel, ir::OpKind kind) {
  int count = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) { count += op.kind == kind; });
  return count;
}

void expect_same_results(const ir::Kernel& changed, const std::string& source) {
  const ir::Kernel plain = at_tile(source, false);
  for (const auto& [m, n, k] : {std::tuple{64, 128, 16}, {65, 144, 33}, {100, 304, 15}, {1, 16, 1}})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      ProductMemory before(m, n, k), after(m, n, k);
      before.run(plain, 0, stored_rows, stored_columns);
      after.run(changed, seed, stored_rows, stored_columns);
      EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
    }
}

TEST(StoreByMaps, ChangesNoResult) {
  for (const bool persists : {true, false}) {
    ir::Kernel kernel = with_map_roles(stored_product(), persists);
    ASSERT_TRUE(store_by_maps(kernel, {.num_warps = 8}));
    ir::verify(kernel);
    EXPECT_EQ(count_of(kernel, ir::OpKind::Store), 0);
    EXPECT_EQ(count_of(kernel, ir::OpKind::StoreMap), 1);
    EXPECT_EQ(count_of(kernel, ir::OpKind::WaitStores), 1);
    const std::string printed = ir::print(kernel);
    EXPECT_EQ(ir::print(ir::parse(printed, "again")), printed);
    expect_same_results(kernel, stored_product());
  }
}

TEST(StoreByMaps, ChangesNoResultThatIsDeferred) {
  ir::Kernel kernel = with_map_roles(stored_product());
  ASSERT_TRUE(store_by_maps(kernel, {.num_warps = 8}));
  ASSERT_TRUE(defer_stores(kernel, {.num_warps = 8}));
  ir::verify(kernel);
  EXPECT_EQ(count_of(kernel, ir::OpKind::StoreMap), 4);  // two parts, in the loop and behind it
  expect_same_results(kernel, stored_product());
}

// One tile is in memory before the next one's first part goes out.
TEST(StoreByMaps, KeepsTilesOfAKernelThatLoopsByItselfInOrder) {
  ir::Kernel kernel = with_map_roles(looping(stored_product()));
  ASSERT_TRUE(store_by_maps(kernel, {.num_warps = 8}));
  EXPECT_EQ(count_of(kernel, ir::OpKind::Barrier), 1);
  EXPECT_EQ(count_of(kernel, ir::OpKind::WaitStores), 2);
  expect_same_results(kernel, looping(stored_product()));
  ASSERT_TRUE(defer_stores(kernel, {.num_warps = 8}));
  ir::verify(kernel);
  EXPECT_EQ(count_of(kernel, ir::OpKind::Barrier), 1);
  EXPECT_EQ(count_of(kernel, ir::OpKind::WaitStores), 2);
  expect_same_results(kernel, looping(stored_product()));
}

// The interpreter misses what waits for stores.
TEST(StoreByMapsHostile, StoresThatNobodyWaitsForAreMissed) {
  ir::Kernel kernel = with_map_roles(stored_product());
  ASSERT_TRUE(store_by_maps(kernel, {.num_warps = 8}));
  for (ir::Op* op : kernel.body.ops)
    if (op->kind == ir::OpKind::If)
      std::erase_if(op->regions[1].ops,
                    [](const ir::Op* inner) { return inner->kind == ir::OpKind::WaitStores; });
  ProductMemory memory(64, 128, 16);
  EXPECT_THROW(memory.run(kernel, 1, stored_rows, stored_columns), Error);
}

TEST(StoreByMaps, LeavesWhatIsNoTileOfATensor) {
  const auto stays = [](const std::string& source) {
    ir::Kernel kernel = with_map_roles(source);
    const std::string before = ir::print(kernel);
    EXPECT_FALSE(store_by_maps(kernel, {.num_warps = 8}));
    return ir::print(kernel) == before;
  };
  const std::string plain =
      product_text({.mask = "%inside", .bm = stored_rows, .bn = stored_columns, .bk = 16});
  EXPECT_TRUE(stays(plain));  // lines that need not be aligned
  EXPECT_TRUE(stays(replaced(plain, "%sc: i32", "%sc: i32 {divisible = 16}")));  // nor go forward
  EXPECT_TRUE(stays(with_aligned_result(
      product_text({.bm = 32, .bn = stored_columns, .bk = 16}))));  // 4 lines of a warp
  // What is stored is read before: other threads may still read it.
  std::string reads = stored_product();
  reads = replaced(reads, "  %out = cast %sum : f16[64, 128]\n",
                   "  %first_out = load %c : f16\n  %firsts_out = splat %first_out : f16[64, 128]\n"
                   "  %made = cast %sum : f16[64, 128]\n"
                   "  %out = add %made, %firsts_out : f16[64, 128]\n");
  EXPECT_TRUE(stays(reads));
  std::string twice = stored_product();
  twice = replaced(twice, "  store %to, %out", "  store %to, %out, %inside\n  store %to, %out");
  EXPECT_TRUE(stays(twice));  // two stores, whose order counts
  ir::Kernel full = with_map_roles(stored_product());
  EXPECT_FALSE(store_by_maps(full, {.num_warps = 8, .shared_bytes = 16384}));  // no room
}

}  // namespace
}  // namespace tilewright
