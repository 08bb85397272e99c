// SPDX-License-Identifier: Apache-2.0
// exec/inline_groups_test.cpp — cooperative groups and CUB's collectives of a block, emulated, on a
// GPU, and compiled for one with the toolkit's headers.
#include "inline_on.h"
#include "load_inline/compile_errors.h"
#include "load_inline/device_text.h"
#include "runtime/compile.h"

namespace tilewright {
namespace {

constexpr const char* blocks_and_tiles = R"(
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
)";

constexpr const char* coalesced_threads = R"(
#include <cooperative_groups.h>
__global__ void k(int* out) {
  if (threadIdx.x % 4 == 1) {
    auto active = cooperative_groups::coalesced_threads();
    out[threadIdx.x] = active.size() * 100 + active.thread_rank();
  }
}
)";

constexpr const char* cub_collectives = R"(
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
)";

class InlineGroups : public InlineOn {};
TW_INLINE_ON_ALL(InlineGroups);

TEST_P(InlineGroups, BlocksAndTiles) {
  const InlineModule m = load(blocks_and_tiles);
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
  const InlineModule m = load(coalesced_threads);
  const Tensor out = zeros({32}, TensorOptions(i32, device()));
  m.kernel("k")[{.grid = 1, .block = 32}](out);
  std::vector<double> expected(32, 0);
  for (std::size_t i = 0; i < 8; ++i) expected[4 * i + 1] = 800 + static_cast<double>(i);
  EXPECT_EQ(numbers(out), expected);
}

TEST_P(InlineGroups, CubReducesAndScansABlock) {
  const InlineModule m = load(cub_collectives);
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

// Needs no GPU.
class GroupsForAGpu : public testing::TestWithParam<const char*> {
 protected:
  static void compile(const std::string& text) {
    const std::vector<InlineSource> sources = {make_inline_source(text, "groups.cu", true)};
    KernelSource source;
    source.name = "groups";
    source.language = Language::Cuda;
    source.text = nvrtc_text(sources);
    source.options = {"--std=c++17", "-default-device"};
    try {
      compile_with_nvrtc(source, Target::parse("sm_90a"));
    } catch (const CompileError& error) {
      throw explained(error, "groups");
    }
  }
};

TEST_P(GroupsForAGpu, CompileBesideTheStandardLibrary) {
  try {
    compile(std::string(GetParam()) +
            "__global__ void limits(int64_t* x) {\n"
            "  x[0] = std::max<int64_t>(x[1], INT64_MAX) + INT_MIN + SHRT_MAX;\n"
            "  if (float(x[0]) < FLT_MAX && INFINITY > 1) x[2] = std::numeric_limits<int>::max();\n"
            "}\n");
  } catch (const MissingError& error) {
    GTEST_SKIP() << error.what();
  } catch (const CompileError& error) {
    const std::string line = first_line(error.what());
    if (line.find("was not found beside NVRTC") == std::string::npos) throw;
    EXPECT_NE(line.find("install the CUDA toolkit's headers"), std::string::npos);
    GTEST_SKIP() << line;
  }
}

std::string name_of_groups(const testing::TestParamInfo<const char*>& info) {
  constexpr const char* names[] = {"BlocksAndTiles", "CoalescedThreads", "Cub"};
  return names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Sources, GroupsForAGpu,
                         testing::Values(blocks_and_tiles, coalesced_threads, cub_collectives),
                         name_of_groups);

}  // namespace
}  // namespace tilewright
