// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_check_test.cpp — planted bugs in the use of shared memory, each found by its
// name.
#include <numeric>

#include <gtest/gtest.h>

#include "base/embedded.h"
#include "codegen/emulate/rewrite.h"
#include "emulated_module.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

#ifdef TW_SANITIZE
#define NEEDS_CHECKS() GTEST_SKIP() << "builds with sanitizers have no checks of shared memory"
#else
#define NEEDS_CHECKS()
#endif

std::string with_library(std::string_view text) {
  std::string out;
  for (const char* part : {"ptx", "async_copy"})
    out += "#line 1 \"tilewright/part\"\n" +
           std::string(embedded_file(std::string("device_lib/emulate/cuda/") + part + ".cuh"));
  return out + "#line 1 \"test.cu\"" + std::string(text);
}

const EmulatedModule& module() {
  static const EmulatedModule planted = module_with_check(
      true, with_library(R"(
__global__ void missing_barrier(float* x) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = x[t];
  x[t] = tile[63 - t];
}
__global__ void missing_second_barrier(float* x) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    tile[t] = x[t];
    __syncthreads();
    x[t] = tile[63 - t];
  }
}
__global__ void two_writers(int* x) {
  __shared__ int total;
  total = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = total;
}
__global__ void unwritten(float* x) {
  __shared__ float tile[8][8];
  const int t = threadIdx.x;
  if (t != 12) tile[t / 8][t % 8] = x[t];
  __syncthreads();
  x[t] = tile[t % 8][t / 8];
}
__global__ void divergent(float* x) {
  __shared__ float tile[64];
  if (threadIdx.x < 40) {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  } else {
    __syncthreads();
  }
}
__global__ void wrong_mask(int* x) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = x[t];
  __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
  x[t] = tile[31 - t];
}
__global__ void other_warp(int* x) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = x[t];
  __syncwarp();
  x[t] = tile[t ^ 32];
}
__global__ void shuffle_orders_nothing(int* x) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = x[t];
  const int other = __shfl_xor_sync(0xffffffff, t, 1);
  x[t] = tile[other];
}
__global__ void missing_wait(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[t], in + t);
  tw::commit_copies();
  __syncthreads();
  out[t] = tile[63 - t];
}
__global__ void too_few_groups(const int* in, int* out) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[0][t], in + t);
  tw::commit_copies();
  tw::copy_async<4>(&tile[1][t], in + 64 + t);
  tw::commit_copies();
  tw::wait_copies<1>();
  __syncthreads();
  out[t] = tile[0][63 - t];
  out[t + 64] = tile[1][63 - t];
}
__global__ void wait_without_barrier(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[t], in + t);
  tw::commit_copies();
  tw::wait_copies<0>();
  out[t] = tile[63 - t];
}
__global__ void overwritten_slot(const int* in, int* out) {
  __shared__ int ring[2][64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&ring[0][t], in + t);
  tw::commit_copies();
  for (int i = 0; i < 4; ++i) {
    tw::copy_async<4>(&ring[(i + 1) % 2][t], in + (i + 1) * 64 + t);
    tw::commit_copies();
    tw::wait_copies<1>();
    __syncthreads();
    out[i * 64 + t] = ring[i % 2][63 - t];
  }
}
__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__global__ void parts_of_dynamic_memory(float* x) {
  extern __shared__ unsigned char shared[];
  float* const first = reinterpret_cast<float*>(shared);
  float* const second = reinterpret_cast<float*>(shared + 256);
  const int t = threadIdx.x;
  first[t] = second[t] = x[t];
  __syncthreads();
  if (t < 8) second[4 * t + 5] = 0;
  if (t < 16) x[4 * t] = load4(second + 4 * t).x + load4(first + 4 * t).x;
}
)"),
      {"missing_barrier", "missing_second_barrier", "two_writers", "unwritten", "divergent",
       "wrong_mask", "other_warp", "shuffle_orders_nothing", "missing_wait", "too_few_groups",
       "wait_without_barrier", "overwritten_slot", "parts_of_dynamic_memory"});
  return planted;
}

// The fault of a block of `threads` with one or two buffers; thread order is by index.
std::string fault_of(const char* kernel, std::uint32_t threads) {
  const WithCheck check(true);
  const WithSeed by_index(0);
  alignas(16) int in[512], out[512] = {};
  std::iota(in, in + 512, 0);
  int *first = in, *second = out;
  void* parameters[] = {&first, &second};
  try {
    module().launch(kernel, {.block = {threads, 1, 1}, .shared_bytes = 512}, parameters);
  } catch (const KernelFault& fault) {
    const std::string what = fault.what();
    const std::string head = "kernel '" + std::string(kernel) + "', block (0, 0, 0), ";
    EXPECT_EQ(what.substr(0, head.size()), head);
    return what.substr(head.size());
  }
  return "no fault";
}

struct Planted {
  const char* kernel;
  std::uint32_t threads;
  const char* fault;
};

class EmulateCheck : public ::testing::TestWithParam<Planted> {};

TEST_P(EmulateCheck, IsFound) {
  NEEDS_CHECKS();
  EXPECT_EQ(fault_of(GetParam().kernel, GetParam().threads), GetParam().fault);
}

constexpr Planted planted_bugs[] = {
    {"missing_barrier", 64,
     "threads (31, 0, 0) and (32, 0, 0): 'tile[32]' is read at line 7 and written at line 6 "
     "without a barrier between; the threads are of different warps: put __syncthreads() there"},
    {"missing_second_barrier", 64,
     "threads (31, 0, 0) and (32, 0, 0): 'tile[31]' is written at line 13 and read at line 15 "
     "without a barrier between; the threads are of different warps: put __syncthreads() there"},
    {"two_writers", 64,
     "threads (0, 0, 0) and (1, 0, 0): 'total' is written at line 20 and written at line 20 "
     "without a barrier between; put __syncwarp() or __syncthreads() there"},
    {"unwritten", 64,
     "thread (33, 0, 0): 'tile[12]' is read at line 29, but no thread has written it"},
    {"divergent", 64,
     "threads (0, 0, 0) and (40, 0, 0): they meet at different barriers, __syncthreads at line 35 "
     "and __syncthreads at line 37"},
    {"wrong_mask", 32,
     "threads (31, 0, 0) and (0, 0, 0): 'tile[31]' is written at line 43 and read at line 45 "
     "without a barrier between; put __syncwarp() or __syncthreads() there"},
    {"other_warp", 64,
     "threads (32, 0, 0) and (0, 0, 0): 'tile[32]' is written at line 50 and read at line 52 "
     "without a barrier between; the threads are of different warps: put __syncthreads() there"},
    {"shuffle_orders_nothing", 32,
     "threads (1, 0, 0) and (0, 0, 0): 'tile[1]' is written at line 57 and read at line 59 without "
     "a barrier between; put __syncwarp() or __syncthreads() there"},
    {"missing_wait", 64,
     "threads (63, 0, 0) and (0, 0, 0): 'tile[63]' is read at line 67, but the asynchronous copy "
     "into it from line 64 has not been waited for by the thread that started it"},
    {"too_few_groups", 64,
     "threads (63, 0, 0) and (0, 0, 0): 'tile[127]' is read at line 79, but the asynchronous copy "
     "into it from line 74 has not been waited for by the thread that started it"},
    {"wait_without_barrier", 64,
     "thread (0, 0, 0): 'tile[63]' is read at line 87, but no thread has written it"},
    {"overwritten_slot", 64,
     "threads (31, 0, 0) and (32, 0, 0): 'ring[31]' is read at line 99, but the asynchronous copy "
     "into it from line 95 has not been waited for by the thread that started it"},
    {"parts_of_dynamic_memory", 64,
     "threads (0, 0, 0) and (1, 0, 0): 'second[5]' is written at line 110 and read at line 102 "
     "without a barrier between; put __syncwarp() or __syncthreads() there"},
};
INSTANTIATE_TEST_SUITE_P(Planted, EmulateCheck, ::testing::ValuesIn(planted_bugs),
                         [](const auto& test) { return std::string(test.param.kernel); });

// What is right stays quiet, in any order of the threads.
TEST(EmulateChecks, ANullPointerIsAnErrorWithItsLine) {
  NEEDS_CHECKS();
  const EmulatedModule writes = module_with_check(true, R"(
__global__ void through_null(float* x) {
  if (threadIdx.x == 3) *x = 1;
})",
                                                  {"through_null"});
  float* const nowhere = nullptr;
  for (int i = 0; i < 2; ++i) {  // the thread's stack is used again
    try {
      writes.run("through_null", {.block = {64, 1, 1}}, nowhere);
      FAIL() << "must throw";
    } catch (const KernelFault& fault) {
      EXPECT_STREQ(fault.what(),
                   "kernel 'through_null', block (0, 0, 0), thread (3, 0, 0): writes 4 bytes "
                   "through a null pointer at line 3");
    }
  }
}

TEST(EmulateChecks, AWordBetweenTwoWordsIsAnErrorWithItsLine) {
  NEEDS_CHECKS();
  const EmulatedModule reads = module_with_check(true, R"(
__global__ void between(unsigned* x) {
  const unsigned word = *(const unsigned*)((const unsigned short*)x + threadIdx.x);
  x[8] = word;
})",
                                                 {"between"});
  unsigned x[16] = {};
  reads.run("between", {.block = {1, 1, 1}}, static_cast<unsigned*>(x));
  try {
    reads.run("between", {.block = {2, 1, 1}}, static_cast<unsigned*>(x));
    FAIL() << "must throw";
  } catch (const KernelFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "kernel 'between', block (0, 0, 0), thread (1, 0, 0): reads 4 bytes at an address "
                 "that is not a multiple of their number at line 3");
  }
}

TEST(EmulateChecks, AnIntegerDividedByZeroIsAnErrorWithItsLine) {
  NEEDS_CHECKS();
  const EmulatedModule divides = module_with_check(true, R"(
__global__ void divide(int* x) {
  const int i = threadIdx.x;
  if (i == 3) x[0] =
    x[1] % x[2];
})",
                                                   {"divide"});
  int x[3] = {1, 2, 0};
  int* const argument = x;
  for (int i = 0; i < 2; ++i) {
    try {
      divides.run("divide", {.block = {64, 1, 1}}, argument);
      FAIL() << "must throw";
    } catch (const KernelFault& fault) {
      EXPECT_STREQ(fault.what(),
                   "kernel 'divide', block (0, 0, 0), thread (3, 0, 0): divides an integer by zero "
                   "at line 4");
    }
  }
  x[2] = 2;
  divides.run("divide", {.block = {64, 1, 1}}, argument);
  EXPECT_EQ(x[0], 0);
}

TEST(EmulateChecks, RightKernelsRun) {
  NEEDS_CHECKS();
  static const EmulatedModule right = module_with_check(true, with_library(R"(
__global__ void warp_by_warp(int* x) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = x[t];
  __syncwarp();
  const int other = tile[t ^ 5];
  __syncwarp();
  tile[t ^ 5] = other + 1;
  __syncwarp(t % 32 < 16 ? 0x0000ffff : 0xffff0000);
  x[t] = tile[t ^ 15];
}
__global__ void counters(int* x) {
  __shared__ int count[2];
  if (threadIdx.x < 2) count[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&count[threadIdx.x % 2], 1);
  __syncthreads();
  x[threadIdx.x] = count[1];
}
constexpr int next(int i) { int j = i; ++j; return j; }
template <class T> struct Pair { T a, b; };
__global__ void shapes(int* x) {
  __shared__ Pair<int> pairs[32], *where;
  __shared__ alignas(16) int tile[next(1)][64];
  static __shared__ int four[4];
  const int t = threadIdx.x;
  struct Local { int a; int b; } local = {t, x[t]};
  if (t == 0) where = pairs; else if (t == 1) for (int i = 0; i < 4; ++i) four[i] = i;
  else { tile[0][0] = 7; if (t != 2) goto done; tile[0][1] = 8; }
  if (t < 2) goto done;
  do tile[1][t] = t; while (false);
done:
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 1; ++i) if (t < 32) pairs[t] = {local.a, local.b};
  __syncthreads();
  auto sum = [&](int i) { const Pair<int> p = where[i]; return p.a + p.b; };
  switch (t) { case 0: x[0] = sum(2); break; default: x[t] = sum(t % 3) + four[t % 4]; }
}
)"),
                                                        {"warp_by_warp", "counters", "shapes"});
  const WithCheck check(true);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const WithSeed with(seed);
    std::vector<int> x(64);
    std::iota(x.begin(), x.end(), 0);
    right.run("warp_by_warp", {.block = {64, 1, 1}}, x.data());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(x[static_cast<std::size_t>(i)], (i ^ 15) + 1);
    right.run("counters", {.block = {64, 1, 1}}, x.data());
    EXPECT_EQ(x, std::vector<int>(64, 32));
    right.run("shapes", {.block = {3, 1, 1}}, x.data());
  }
}

}  // namespace
}  // namespace tilewright
