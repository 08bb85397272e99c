// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_error_test.cpp — what goes wrong in an emulated kernel is named; nothing hangs.
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "codegen/device_lib/emulate/fibers.h"
#include "emulated_module.h"

namespace tilewright {
namespace {

#define NEEDS_FIBERS() \
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer"

const EmulatedModule& module() {
  static const EmulatedModule error_module(
      R"(#include <assert.h>
__global__ void divergent(int* out) {
  if (threadIdx.x < 16) __syncthreads();
  else if (threadIdx.x < 40) out[threadIdx.x] = __shfl_down_sync(0xffffffff, 1, 1);
  else if (threadIdx.x < 50)
    __syncthreads();
}
__global__ void half_a_warp(int* out) {
  if (threadIdx.x % 32 == 3) __ballot_sync(0xffffffff, 1);
  __syncthreads();
}
__global__ void checked(const int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) assert(x[i] >= 0);
}
__global__ void checked_with_barrier(const int* x, int n) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  assert(tile[63 - threadIdx.x] >= 0);
  __syncthreads();
}
__global__ void trap() { if (threadIdx.y == 1) __trap(); }
__global__ void wrong_mask() { __shfl_sync(0xfffffffe, 1, 0); }
__global__ void spin(volatile int* flag) { while (*flag == 0) __nanosleep(10); }
__device__ __noinline__ void store(int* to) { *to = 1; }
__global__ void overflow(int* x, int at) {
  __shared__ int tile[64];
  store(tile + threadIdx.x + at);
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x];
}
__global__ void dynamic_overflow(int* x, int at) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x + at] = 1;
  __syncthreads();
  x[threadIdx.x] = dynamic[threadIdx.x];
}
struct Counted { int* count; __device__ ~Counted() { atomicAdd(count, 1); } };
__global__ void unwinds(int* count) {
  Counted counted{count};
  if (threadIdx.x != 5) __syncthreads();
  else __trap();
}
)",
      {"divergent", "half_a_warp", "checked", "checked_with_barrier", "trap", "wrong_mask", "spin",
       "overflow", "dynamic_overflow", "unwinds"});
  return error_module;
}

template <class... Values>
std::string fault_of(const char* kernel, const Blocks& blocks, Values... values) {
  try {
    module().run(kernel, blocks, values...);
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(EmulateErrors, ADeadlockNamesBarriersAndThreads) {
  NEEDS_FIBERS();
  std::vector<int> out(64);
  EXPECT_EQ(fault_of("divergent", {.block = {64, 1, 1}}, out.data()),
            "kernel 'divergent', block (0, 0, 0): no thread can advance: threads 50-63 have ended; "
            "threads 16-39 wait at "
            "__shfl_down_sync (line 4) with mask 0xffffffff; threads 0-15 wait at __syncthreads "
            "(line 3); threads 40-49 wait at "
            "__syncthreads (line 6); all threads that have not ended must reach the same barrier");
}

TEST(EmulateErrors, EveryBlockAndSeedReportsIt) {
  NEEDS_FIBERS();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const WithSeed with(seed);
    std::vector<int> out(64);
    const std::string fault =
        fault_of("half_a_warp", {.grid = {1, 2, 1}, .block = {32, 1, 1}}, out.data());
    EXPECT_EQ(fault,
              "kernel 'half_a_warp', block (0, 0, 0): no thread can advance: thread 3 waits at "
              "__ballot_sync (line 9) with mask "
              "0xffffffff; threads 0-2, 4-31 wait at __syncthreads (line 10); all threads that "
              "have not ended must reach the same "
              "barrier");
  }
}

TEST(EmulateErrors, AssertNamesThePlaceAndTheThread) {
  std::vector<int> x(100, 1);
  x[70] = -1;
  EXPECT_EQ(fault_of("checked", {.grid = {2, 1, 1}, .block = {64, 1, 1}}, x.data(), 100),
            "kernel 'checked', block (1, 0, 0), thread (6, 0, 0): assertion 'x[i] >= 0' failed at "
            "test.cu:14");
  EXPECT_EQ(fault_of("checked", {.grid = {2, 1, 1}, .block = {64, 1, 1}}, x.data(), 70),
            "no fault");
}

TEST(EmulateErrors, AFailedBlockLeavesTheFibersUsable) {
  NEEDS_FIBERS();
  for (int round = 0; round < 3; ++round) {
    std::vector<int> x(64, 1);
    x[60] = -1;
    EXPECT_EQ(fault_of("checked_with_barrier", {.block = {64, 1, 1}}, x.data(), 64),
              "kernel 'checked_with_barrier', block (0, 0, 0), thread (3, 0, 0): assertion "
              "'tile[63 - threadIdx.x] >= 0' failed at "
              "test.cu:20");
    x[60] = 1;
    EXPECT_EQ(
        fault_of("checked_with_barrier", {.grid = {3, 1, 1}, .block = {64, 1, 1}}, x.data(), 64),
        "no fault");
  }
}

TEST(EmulateErrors, WaitingThreadsAreUnwound) {
  NEEDS_FIBERS();
  for (std::uint64_t seed : {0, 1, 2}) {
    const WithSeed with(seed);
    int count = 0;
    EXPECT_EQ(fault_of("unwinds", {.block = {32, 1, 1}}, &count),
              "kernel 'unwinds', block (0, 0, 0), thread (5, 0, 0): __trap was called");
    EXPECT_GE(count, 1);
    EXPECT_LE(count, 32);
  }
}

TEST(EmulateErrors, TrapAndWrongMask) {
  NEEDS_FIBERS();
  EXPECT_EQ(fault_of("trap", {.block = {1, 2, 1}}),
            "kernel 'trap', block (0, 0, 0), thread (0, 1, 0): __trap was called");
  EXPECT_EQ(fault_of("wrong_mask", {.block = {32, 1, 1}}),
            "kernel 'wrong_mask', block (0, 0, 0), thread (0, 0, 0): __shfl_sync at line 24 has "
            "the mask 0xfffffffe, which leaves "
            "out its own lane 0");
}

TEST(EmulateErrors, SpinningForEverIsAnError) {
  NEEDS_FIBERS();
  int flag = 0;
  EXPECT_EQ(fault_of("spin", {.block = {2, 1, 1}}, &flag),
            "kernel 'spin', block (0, 0, 0): threads spin for ever on a value that nobody changes");
}

TEST(EmulateErrors, TooMuchDynamicSharedMemory) {
  NEEDS_FIBERS();
  std::vector<int> x(64);
  EXPECT_EQ(fault_of("dynamic_overflow", {.block = {1, 1, 1}, .shared_bytes = 232449}, x.data(), 0),
            "kernel 'dynamic_overflow', block (0, 0, 0), thread (0, 0, 0): the launch asks for "
            "more than 227 KiB of dynamic shared "
            "memory");
}

#ifdef __SANITIZE_ADDRESS__
TEST(EmulateErrorsDeathTest, AddressSanitizerFindsOverflowsOfSharedMemory) {
  std::vector<int> x(64);
  module().run("overflow", {.block = {64, 1, 1}}, x.data(), 0);
  EXPECT_DEATH(module().run("overflow", {.block = {64, 1, 1}}, x.data(), 1),
               "global-buffer-overflow");
  module().run("dynamic_overflow", {.block = {64, 1, 1}, .shared_bytes = 256}, x.data(), 0);
  EXPECT_DEATH(
      module().run("dynamic_overflow", {.block = {64, 1, 1}, .shared_bytes = 256}, x.data(), 1),
      "use-after-poison");
}
#endif

}  // namespace
}  // namespace tilewright
