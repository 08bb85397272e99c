// SPDX-License-Identifier: Apache-2.0
// exec/inline_groups_test.cpp — cooperative groups and CUB's collectives of a block, emulated and
// on a GPU.
#include "inline_on.h"

namespace tilewright {
namespace {

class InlineGroups : public InlineOn {};
TW_INLINE_ON_ALL(InlineGroups);

TEST_P(InlineGroups, BlocksAndTiles) {
  const InlineModule m = load(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
template <class Group>
__device__ int sum_of(Group group, int value) {
  for (int d = group.size() / 2; d > 0; d /= 2) value += group.shfl_down(value, d);
  return group.shfl(value, 0);
}
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  __shared__ int shared[64];
  shared[block.thread_rank()] = block.thread_rank();
  block.sync();
  const int other = shared[63 - block.thread_rank()];
  int* mine = out + 6 * block.thread_rank();
  mine[0] = other;
  mine[1] = sum_of(tile, block.thread_rank());
  mine[2] = tile.meta_group_rank();
  mine[3] = tile.ballot(tile.thread_rank() < 3);
  mine[4] = cg::reduce(tile, int(tile.thread_rank()), cg::plus<int>());
  mine[5] = tile.any(block.thread_rank() == 0);
}
)");
  const Tensor out = zeros({64, 6}, TensorOptions(i32, device()));
  m.kernel("k")[{.grid = 1, .block = 64}](out);
  const std::vector<double> values = numbers(out);
  for (int t = 0; t < 64; ++t) {
    const int first = t / 8 * 8;
    const std::vector<double> mine(values.begin() + 6 * t, values.begin() + 6 * t + 6);
    EXPECT_EQ(mine, (std::vector<double>{63.0 - t, 8.0 * first + 28, t / 8 * 1.0, 7, 28,
                                         t < 8 ? 1.0 : 0.0}))
        << "thread " << t;
  }
}

TEST_P(InlineGroups, CoalescedThreadsAreThoseOfTheBranch) {
  const InlineModule m = load(R"(
#include <cooperative_groups.h>
__global__ void k(int* out) {
  if (threadIdx.x % 4 == 1) {
    auto active = cooperative_groups::coalesced_threads();
    out[threadIdx.x] = active.size() * 100 + active.thread_rank();
  }
}
)");
  const Tensor out = zeros({32}, TensorOptions(i32, device()));
  m.kernel("k")[{.grid = 1, .block = 32}](out);
  std::vector<double> expected(32, 0);
  for (std::size_t i = 0; i < 8; ++i) expected[4 * i + 1] = 800 + static_cast<double>(i);
  EXPECT_EQ(numbers(out), expected);
}

TEST_P(InlineGroups, CubReducesAndScansABlock) {
  const InlineModule m = load(R"(
#include <cub/cub.cuh>
__global__ void k(const int* x, int* sum, int* largest, int* before) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Reduce::TempStorage again;
  __shared__ typename Scan::TempStorage scan;
  const int mine = x[threadIdx.x];
  const int total = Reduce(reduce).Sum(mine);
  const int most = Reduce(again).Reduce(mine, [](int a, int b) { return a < b ? b : a; });
  int running;
  Scan(scan).ExclusiveSum(mine, running);
  before[threadIdx.x] = running;
  if (threadIdx.x == 0) { *sum = total; *largest = most; }
}
)");
  const TensorOptions integers(i32, device());
  const Tensor x = arange(128, integers), sum = zeros({1}, integers),
               largest = zeros({1}, integers), before = zeros({128}, integers);
  m.kernel("k")[{.grid = 1, .block = 128}](x, sum, largest, before);
  EXPECT_EQ(numbers(sum), std::vector<double>{8128});
  EXPECT_EQ(numbers(largest), std::vector<double>{127});
  std::vector<double> expected;
  for (int i = 0; i < 128; ++i) expected.push_back(i * (i - 1) / 2.0);
  EXPECT_EQ(numbers(before), expected);
}

}  // namespace
}  // namespace tilewright
