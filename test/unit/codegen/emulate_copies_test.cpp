// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_copies_test.cpp — asynchronous copies arrive when they are waited for, and not
// before.
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "base/embedded.h"
#include "codegen/device_lib/emulate/fibers.h"
#include "emulated_module.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

#define NEEDS_FIBERS() \
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer"

const EmulatedModule& module() {
  static const EmulatedModule copies = module_with_check(
      false,
      std::string(embedded_file("device_lib/emulate/cuda/ptx.cuh")) +
          std::string(embedded_file("device_lib/emulate/cuda/async_copy.cuh")) +
          R"(#line 1 "test.cu"
// Reversed by blocks of 64, three slots in flight.
__global__ void reverse(const int* in, int* out, int n) {
  __shared__ __align__(16) int ring[3][64];
  const int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    tw::copy_async<4>(&ring[i][t], in + i * 64 + t, i * 64 + t < n);
    tw::commit_copies();
  }
  for (int i = 0; i * 64 < n; ++i) {
    tw::wait_copies<1>();
    __syncthreads();
    const int next = (i + 2) * 64 + t;
    tw::copy_async<4>(&ring[(i + 2) % 3][t], in + next, next < n);
    tw::commit_copies();
    out[i * 64 + t] = ring[i % 3][63 - t];
  }
}
__global__ void without_wait(const int* in, int* out) {
  __shared__ __align__(16) int tile[64];
  tw::copy_async<16>(&tile[4 * threadIdx.x], in + 4 * threadIdx.x);
  tw::commit_copies();
  out[threadIdx.x] = tile[4 * threadIdx.x];
}
__global__ void too_few_groups(const int* in, int* out) {
  __shared__ int tile[64];
  tw::copy_async<4>(&tile[threadIdx.x], in + threadIdx.x);
  tw::commit_copies();
  tw::wait_copies<1>();
  out[threadIdx.x] = tile[threadIdx.x];
  tw::wait_copies<0>();
  out[threadIdx.x + 32] = tile[threadIdx.x];
}
__global__ void uncommitted(const int* in, int* out) {
  __shared__ int tile[64];
  tw::copy_async<4>(&tile[threadIdx.x], in + threadIdx.x);
  tw::wait_copies<0>();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void changed_source(int* in, int* out) {
  __shared__ int tile[64];
  tw::copy_async<4>(&tile[threadIdx.x], in + threadIdx.x);
  tw::commit_copies();
  in[threadIdx.x] = 7;
  tw::wait_copies<0>();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void misaligned(const int* in, int shift) {
  __shared__ __align__(16) int tile[64];
  tw::copy_async<16>(&tile[0], in + shift);
}
)",
      {"reverse", "without_wait", "too_few_groups", "uncommitted", "changed_source", "misaligned"});
  return copies;
}

struct Data {
  alignas(16) int in[512];
  int out[512] = {};
  Data() { std::iota(in, in + 512, 1000); }
};

TEST(EmulateCopies, ArriveWhenWaitedFor) {
  NEEDS_FIBERS();
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    const WithSeed with(seed);
    Data data;
    module().run("reverse", {.block = {64, 1, 1}}, &data.in[0], &data.out[0], 300);
    for (int i = 0; i < 320; ++i) {
      const int from = i / 64 * 64 + 63 - i % 64;
      ASSERT_EQ(data.out[i], from < 300 ? 1000 + from : 0) << i;
    }
  }
}

TEST(EmulateCopies, DestinationsArePoisonedMeanwhile) {
  NEEDS_FIBERS();
  for (std::uint64_t seed : {0, 1, 2}) {
    const WithSeed with(seed);
    for (const char* kernel : {"without_wait", "too_few_groups", "uncommitted"}) {
      Data data;
      module().run(kernel, {.block = {16, 1, 1}}, &data.in[0], &data.out[0]);
      for (int i = 0; i < 16; ++i) ASSERT_EQ(data.out[i], -1) << kernel;
      EXPECT_EQ(data.out[32 + 5], kernel == std::string("too_few_groups") ? 1005 : 0) << kernel;
    }
  }
}

TEST(EmulateCopies, TheSourceIsReadEarlyOrLate) {
  NEEDS_FIBERS();
  bool is_early = false, is_late = false;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const WithSeed with(seed);
    Data data;
    module().run("changed_source", {.block = {32, 1, 1}}, &data.in[0], &data.out[0]);
    for (int i = 0; i < 32; ++i) (data.out[i] == 7 ? is_late : is_early) = true;
  }
  EXPECT_TRUE(is_early);
  EXPECT_TRUE(is_late);
}

// CUDA's own functions for it.
const EmulatedModule& user_module() {
  static const EmulatedModule copies =
      module_with_check(false, R"(#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void by_primitives(const int* in, int* out, int zeros) {
  __shared__ __align__(16) int ring[2][64];
  const int t = threadIdx.x;
  if (t < 16) __pipeline_memcpy_async(&ring[0][4 * t], in + 4 * t, 16, zeros);
  __pipeline_commit();
  if (t < 16) __pipeline_memcpy_async(&ring[1][4 * t], in + 64 + 4 * t, 16);
  __pipeline_commit();
  if (t < 16) out[128 + t] = ring[0][4 * t];
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = ring[0][63 - t];
  if (t < 16) out[192 + t] = ring[1][4 * t];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[64 + t] = ring[1][t];
}
__global__ void by_groups(const int* in, int* out, int n) {
  __shared__ __align__(16) int tile[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, 64, in + 1, n);
  cg::wait(block);
  if (threadIdx.x < n) out[threadIdx.x] = tile[threadIdx.x];
  block.sync();
  const auto warp = cg::tiled_partition<32>(block);
  const int first = warp.meta_group_rank() * 32;
  cg::memcpy_async(warp, tile + first, in + first, 32 * sizeof(int));
  cg::wait_prior<0>(warp);
  out[64 + threadIdx.x] = tile[first + 31 - warp.thread_rank()];
}
__global__ void of_three_bytes(const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(tile, in, 3);
}
)",
                        {"by_primitives", "by_groups", "of_three_bytes"});
  return copies;
}

TEST(EmulateCopies, OfPipelinePrimitivesArriveByGroupsAndFillWithZeros) {
  NEEDS_FIBERS();
  for (const std::uint64_t seed : {0, 1, 2}) {
    const WithSeed with(seed);
    for (const int zeros : {0, 4, 8, 16}) {
      Data data;
      user_module().run("by_primitives", {.block = {64, 1, 1}}, &data.in[0], &data.out[0], zeros);
      for (int i = 0; i < 64; ++i) {
        const int from = 63 - i;
        ASSERT_EQ(data.out[i], 4 * (from % 4) >= 16 - zeros ? 0 : 1000 + from) << zeros;
        ASSERT_EQ(data.out[64 + i], 1064 + i);
        if (i >= 16) continue;
        ASSERT_EQ(data.out[128 + i], -1) << "not waited for";
        ASSERT_EQ(data.out[192 + i], -1) << "one group is still under way";
      }
    }
  }
}

TEST(EmulateCopies, OfCooperativeGroupsAreSharedByTheirThreads) {
  NEEDS_FIBERS();
  for (const std::uint64_t seed : {0, 1, 2}) {
    const WithSeed with(seed);
    Data data;
    user_module().run("by_groups", {.block = {64, 1, 1}}, &data.in[0], &data.out[0], 37);
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(data.out[i], i < 37 ? 1001 + i : 0);
      ASSERT_EQ(data.out[64 + i], 1000 + i / 32 * 32 + 31 - i % 32);
    }
  }
}

TEST(EmulateCopies, OfAnySizeAreNot) {
  NEEDS_FIBERS();
  Data data;
  try {
    user_module().run("of_three_bytes", {}, &data.in[0]);
    FAIL() << "must throw";
  } catch (const KernelFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "kernel 'of_three_bytes', block (0, 0, 0), thread (0, 0, 0): "
                 "__pipeline_memcpy_async copies 4, 8 or 16 bytes");
  }
}

TEST(EmulateCopies, MustBeAligned) {
  NEEDS_FIBERS();
  Data data;
  try {
    module().run("misaligned", {}, &data.in[0], 1);
    FAIL();
  } catch (const KernelFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "kernel 'misaligned', block (0, 0, 0), thread (0, 0, 0): the asynchronous copy of "
                 "16 bytes at line 49 reads an address that is not aligned to 16");
  }
}

}  // namespace
}  // namespace tilewright
