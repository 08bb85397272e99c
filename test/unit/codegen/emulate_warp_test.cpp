// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_warp_test.cpp — shuffles, votes, matches and reductions of emulated warps.
#include <gtest/gtest.h>

#include "codegen/device_lib/emulate/fibers.h"
#include "emulated_module.h"

namespace tilewright {
namespace {

#define NEEDS_FIBERS() \
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer"

const EmulatedModule& module() {
  static const EmulatedModule warp_module(
      R"(
#include <cuda_fp16.h>
#define FULL 0xffffffffu
__global__ void shuffles(int* out, int operand, int width) {
  int t = threadIdx.x, value = 100 + t;
  out[t] = __shfl_sync(FULL, value, operand, width);
  out[64 + t] = __shfl_up_sync(FULL, value, operand, width);
  out[128 + t] = __shfl_down_sync(FULL, value, operand, width);
  out[192 + t] = __shfl_xor_sync(FULL, value, operand, width);
}
template <class T> __global__ void rotate(T* x) {
  x[threadIdx.x] = __shfl_sync(FULL, x[threadIdx.x], threadIdx.x + 1);
}
__global__ void rotate_half(float* x) {
  __half h = __float2half(x[threadIdx.x]);
  __half2 both = __shfl_sync(FULL, __halves2half2(h, h), threadIdx.x + 1);
  x[threadIdx.x] = __half2float(__low2half(both)) + __high2float(both) + __half2float(__shfl_sync(FULL, h, threadIdx.x + 1));
}
__global__ void votes(unsigned* out, unsigned bits) {
  int lane = threadIdx.x;
  int p = bits >> lane & 1;
  out[lane] = __ballot_sync(FULL, p);
  out[32 + lane] = __any_sync(FULL, p) | __all_sync(FULL, p) << 1;
  unsigned mask = lane < 16 ? 0xffffu : 0xffff0000u;
  if (lane < 16) out[64 + lane] = __ballot_sync(mask, p) | __all_sync(mask, p) << 31;
  else out[64 + lane] = __ballot_sync(mask, p) >> 16 | __all_sync(mask, p) << 31;
  __syncwarp();
  out[96 + lane] = __activemask();
}
__global__ void matches(unsigned* out, int modulus) {
  int lane = threadIdx.x, all = -1;
  out[lane] = __match_any_sync(FULL, lane % modulus);
  out[32 + lane] = __match_all_sync(FULL, lane % modulus, &all);
  out[64 + lane] = all;
}
__global__ void reductions(int* out) {
  int lane = threadIdx.x;
  out[0 + lane] = __reduce_add_sync(FULL, lane - 40);
  out[32 + lane] = __reduce_min_sync(FULL, lane - 40);
  out[64 + lane] = __reduce_max_sync(FULL, (unsigned)(lane - 40));
  out[96 + lane] = __reduce_or_sync(FULL, 1u << lane % 8) ^ __reduce_and_sync(FULL, 0xf00u | lane) ^ __reduce_xor_sync(FULL, 0x10000u << lane / 31);
}
__global__ void few_lanes(int* out, int n) {
  int lane = threadIdx.x;
  if (lane >= n) return;
  unsigned mask = __activemask();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += __shfl_sync(mask, lane, i);
  out[lane] = sum;
}
__global__ void converged(unsigned* out, int n) {
  int lane = threadIdx.x % 32;
  if (lane >= n) return;
  if (lane % 2) {
    out[threadIdx.x] = __activemask();
  } else {
    __syncwarp(__activemask());
    out[threadIdx.x] = __activemask();
  }
}
__global__ void outside(unsigned* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 20);
}
__global__ void block_votes(int* out, int limit) {
  int t = threadIdx.x;
  out[t] = __syncthreads_count(t < limit);
  out[blockDim.x + t] = __syncthreads_and(t < limit) | __syncthreads_or(t < limit) << 1;
}
)",
      {"shuffles", "rotate<double>", "rotate<float>", "rotate<long long>", "rotate<unsigned char>",
       "rotate_half", "votes", "matches", "reductions", "few_lanes", "converged", "outside",
       "block_votes"});
  return warp_module;
}

// What CUDA's manual says of one lane's result.
int shuffled(int kind, int lane, int operand, int width) {
  const int begin = lane / width * width, end = begin + width;
  if (kind == 0) return begin + (operand & (width - 1));
  if (kind == 1) return lane - operand >= begin ? lane - operand : lane;
  if (kind == 2) return lane + operand < end ? lane + operand : lane;
  return (lane ^ operand) < end ? lane ^ operand : lane;
}

TEST(EmulateWarp, ShufflesOfEveryWidth) {
  NEEDS_FIBERS();
  for (int width : {1, 2, 4, 8, 16, 32})
    for (int operand : {0, 1, 3, 7, 16, 31}) {
      std::vector<int> out(256);
      module().run("shuffles", {.block = {64, 1, 1}}, out.data(), operand, width);
      for (int kind = 0; kind < 4; ++kind)
        for (int t = 0; t < 64; ++t)
          ASSERT_EQ(out[static_cast<std::size_t>(64 * kind + t)],
                    100 + t / 32 * 32 + shuffled(kind, t % 32, operand, width))
              << "kind " << kind << " thread " << t << " operand " << operand << " width " << width;
    }
}

template <class T>
void check_rotate(const char* kernel) {
  std::vector<T> x(32);
  for (int i = 0; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<T>(i * 7.25);
  const std::vector<T> before = x;
  module().run(kernel, {.block = {32, 1, 1}}, x.data());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], before[(i + 1) % 32]) << kernel;
}

TEST(EmulateWarp, ShufflesMoveTypesOfOneToEightBytes) {
  NEEDS_FIBERS();
  check_rotate<double>("rotate<double>");
  check_rotate<float>("rotate<float>");
  check_rotate<long long>("rotate<long long>");
  check_rotate<unsigned char>("rotate<unsigned char>");
  std::vector<float> x(32, 0.0f);
  for (int i = 0; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i);
  module().run("rotate_half", {.block = {32, 1, 1}}, x.data());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], 3.0f * static_cast<float>((i + 1) % 32));
}

TEST(EmulateWarp, VotesOfWholeAndHalfWarps) {
  NEEDS_FIBERS();
  for (unsigned bits : {0u, 1u, 0xffffffffu, 0xffff0000u, 0x12345678u}) {
    std::vector<unsigned> out(128);
    module().run("votes", {.block = {32, 1, 1}}, out.data(), bits);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const unsigned half = lane < 16 ? bits & 0xffff : bits >> 16;
      EXPECT_EQ(out[lane], bits);
      EXPECT_EQ(out[32 + lane], (bits != 0 ? 1u : 0u) | (bits == 0xffffffffu ? 2u : 0u));
      EXPECT_EQ(out[64 + lane], half | (half == 0xffff ? 1u << 31 : 0u));
      EXPECT_EQ(out[96 + lane], 0xffffffffu);
    }
  }
}

TEST(EmulateWarp, Matches) {
  NEEDS_FIBERS();
  for (int modulus : {1, 5, 32}) {
    std::vector<unsigned> out(96);
    module().run("matches", {.block = {32, 1, 1}}, out.data(), modulus);
    for (int lane = 0; lane < 32; ++lane) {
      unsigned equal = 0;
      for (int other = 0; other < 32; ++other)
        if (other % modulus == lane % modulus) equal |= 1u << other;
      const auto i = static_cast<std::size_t>(lane);
      EXPECT_EQ(out[i], equal);
      EXPECT_EQ(out[32 + i], modulus == 1 ? 0xffffffffu : 0u);
      EXPECT_EQ(out[64 + i], modulus == 1 ? 1u : 0u);
    }
  }
}

TEST(EmulateWarp, Reductions) {
  NEEDS_FIBERS();
  std::vector<int> out(128);
  module().run("reductions", {.block = {32, 1, 1}}, out.data());
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], 31 * 32 / 2 - 40 * 32);
    EXPECT_EQ(out[32 + lane], -40);
    EXPECT_EQ(out[64 + lane], -9);
    EXPECT_EQ(out[96 + lane], 0xff ^ 0xf00 ^ (0x10000 ^ 0x20000));
  }
}

TEST(EmulateWarp, LanesThatEndedTakeNoPart) {
  NEEDS_FIBERS();
  for (int n : {1, 5, 31, 32}) {
    std::vector<int> out(32);
    module().run("few_lanes", {.block = {32, 1, 1}}, out.data(), n);
    for (int lane = 0; lane < n; ++lane)
      EXPECT_EQ(out[static_cast<std::size_t>(lane)], n * (n - 1) / 2);
  }
}

TEST(EmulateWarp, ActiveLanesAreThoseAtTheSamePlace) {
  NEEDS_FIBERS();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const WithSeed with(seed);
    std::vector<unsigned> out(64);
    module().run("converged", {.block = {64, 1, 1}}, out.data(), 20);
    for (std::size_t t = 0; t < 64; ++t)
      EXPECT_EQ(out[t], t % 32 >= 20 ? 0u : t % 2 ? 0xaaaaau : 0x55555u) << t;
  }
}

TEST(EmulateWarp, ALaneOutsideTheMaskGivesPoison) {
  NEEDS_FIBERS();
  std::vector<unsigned> out(16);
  module().run("outside", {.block = {32, 1, 1}}, out.data());
  EXPECT_EQ(out, std::vector<unsigned>(16, 0xdeadbeefu));
}

TEST(EmulateWarp, BlockVotes) {
  NEEDS_FIBERS();
  for (int limit : {0, 17, 100}) {
    std::vector<int> out(200);
    module().run("block_votes", {.block = {100, 1, 1}}, out.data(), limit);
    for (std::size_t t = 0; t < 100; ++t) {
      EXPECT_EQ(out[t], limit);
      EXPECT_EQ(out[100 + t], (limit == 100 ? 1 : 0) | (limit > 0 ? 2 : 0));
    }
  }
}

}  // namespace
}  // namespace tilewright
