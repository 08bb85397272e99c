// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_memory_test.cpp — threads of a block that touch global memory in no order are
// found in every order in which they run; what is in an order is not.
#include <cstddef>
#include <numeric>

#include <gtest/gtest.h>

#include "base/embedded.h"
#include "codegen/emulate/rewrite.h"
#include "emulated_module.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

#ifdef TW_SANITIZE
#define NEEDS_CHECKS() GTEST_SKIP() << "builds with sanitizers have no checks of memory"
#else
#define NEEDS_CHECKS()
#endif

using Parts = std::vector<const char*>;

std::string with_parts(std::string_view text, const Parts& parts = {"ptx", "async_copy"}) {
  // What other parts of the device library have.
  std::string out =
      "namespace tw {\nenum : int { lane_count = 32 };\n"
      "inline void show_to_products() { tw_emulate::emulation->show_to_products(); }\n}\n";
  for (const char* part : parts)
    out += "#line 1 \"tilewright/part\"\n" +
           std::string(embedded_file(std::string("device_lib/emulate/cuda/") + part + ".cuh"));
  return out + "#line 1 \"test.cu\"" + std::string(text);
}

// ---- Races

const EmulatedModule& racing_module() {
  static const EmulatedModule module = module_with_check(
      true, with_parts(R"(
__global__ void store_then_load(int* x, int* y) {
  const int t = threadIdx.x;
  x[t] = t;
  y[t] = x[t ^ 32];
}
__global__ void load_then_store(int* x, int* y) {
  const int t = threadIdx.x;
  y[t] = x[t ^ 1];
  x[t] = 0;
}
__global__ void two_stores(int* x, int* y) {
  const int t = threadIdx.x;
  x[t / 2] = t;
}
__global__ void only_of_the_warp(int* x, int* y) {
  const int t = threadIdx.x;
  x[t] = t;
  __syncwarp();
  y[t] = x[t ^ 32];
}
__global__ void atomic_then_load(int* x, int* y) {
  if (threadIdx.x == 0) atomicAdd(x, 1);
  y[threadIdx.x] = *x;
}
__global__ void next_round(int* x, int* y) {
  const int t = threadIdx.x;
  for (int i = 0; i < 3; ++i) {
    const int v = x[t ^ 1];
    __syncthreads();
    x[t] = v;
  }
}
__global__ void part_of_a_word(int* x, int* y) {
  const int t = threadIdx.x;
  ((unsigned char*)x)[t] = t;
  if (t == 5) y[0] = x[0];
}
__global__ void flag_without_fence(int* x, int* y) {
  const int t = threadIdx.x;
  if (t == 0) {
    y[0] = 7;
    *(volatile int*)(x + 1) = 1;
  } else if (t == 32) {
    while (*(volatile int*)(x + 1) == 0) __nanosleep(1);
    x[2] = y[0];
  }
}
__device__ int total;
__global__ void variable(int* x, int* y) {
  total = 3;
  if (threadIdx.x == 1) total = 4;
}
__global__ void copied_while_stored(int* x, int* y) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[t], x + t);
  tw::commit_copies();
  x[t] = 5;
  tw::wait_copies<0>();
}
__global__ void copied_in_the_second_group(int* x, int* y) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[0][t], x + t);
  tw::commit_copies();
  tw::copy_async<4>(&tile[1][t], y + t);
  tw::commit_copies();
  tw::wait_copies<1>();
  x[t] = 5;
  y[t] = 5;
  tw::wait_copies<0>();
}
__global__ void copied_for_another(int* x, int* y) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[t], x + t);
  tw::commit_copies();
  tw::wait_copies<0>();
  x[t ^ 32] = 5;
}
__global__ void stored_before_a_copy(int* x, int* y) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  x[t] = 5;
  tw::copy_async<4>(&tile[t], x + (t ^ 32));
  tw::commit_copies();
  tw::wait_copies<0>();
}
)"),
      {"store_then_load", "load_then_store", "two_stores", "only_of_the_warp", "atomic_then_load",
       "next_round", "part_of_a_word", "flag_without_fence", "variable", "copied_while_stored",
       "copied_in_the_second_group", "copied_for_another", "stored_before_a_copy"});
  return module;
}

struct Race {
  const char* kernel;
  const char* fault;  // when the threads run in the order of their numbers
};

class EmulateMemory : public ::testing::TestWithParam<Race> {};

// Without the address, which differs.
std::string sentence_of(const KernelFault& fault) {
  std::string what = fault.what();
  what.erase(0, what.find("thread"));
  const std::size_t begin = what.find(" at '0x");
  if (begin == std::string::npos) return what;
  return what.erase(begin, what.find('\'', begin + 5) + 1 - begin);
}

TEST_P(EmulateMemory, IsFoundInAnyOrder) {
  NEEDS_CHECKS();
  const WithCheck check(true);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const WithSeed with(seed);
    std::vector<int> x(64), y(64);
    try {
      racing_module().run(GetParam().kernel, {.block = {64, 1, 1}}, x.data(), y.data());
      ADD_FAILURE() << "no fault with seed " << seed;
    } catch (const KernelFault& fault) {
      const std::string what = fault.what();
      EXPECT_TRUE(what.find(" without a barrier between; ") != std::string::npos ||
                  what.find(" has not been waited for ") != std::string::npos)
          << what;
      if (seed > 0) continue;
      EXPECT_EQ(sentence_of(fault), GetParam().fault);
    }
  }
}

const Race races[] = {
    {"store_then_load",
     "threads (0, 0, 0) and (32, 0, 0): memory is read at line 4 and written at line 3 without a "
     "barrier between; the threads are of different warps: put __syncthreads() there"},
    {"load_then_store",
     "threads (0, 0, 0) and (1, 0, 0): memory is written at line 9 and read at line 8 without a "
     "barrier between; put __syncwarp() or __syncthreads() there"},
    {"two_stores",
     "threads (0, 0, 0) and (1, 0, 0): memory is written by two threads at line 13 with different "
     "values, without a barrier between; store each place once, or put __syncthreads() there"},
    {"only_of_the_warp",
     "threads (32, 0, 0) and (0, 0, 0): memory is written at line 17 and read at line 19 without a "
     "barrier between; the threads are of different warps: put __syncthreads() there"},
    {"atomic_then_load",
     "threads (0, 0, 0) and (1, 0, 0): memory is written at line 22 and read at line 23 without a "
     "barrier between; put __syncwarp() or __syncthreads() there"},
    {"next_round",
     "threads (0, 0, 0) and (1, 0, 0): memory is read at line 28 and written at line 30 without a "
     "barrier between; put __syncwarp() or __syncthreads() there"},
    {"part_of_a_word",
     "threads (0, 0, 0) and (5, 0, 0): memory is written at line 35 and read at line 36 without a "
     "barrier between; put __syncwarp() or __syncthreads() there"},
    {"flag_without_fence",
     "threads (0, 0, 0) and (32, 0, 0): memory is written at line 41 and read at line 45 without a "
     "barrier between; the threads are of different warps: put __syncthreads() there"},
    {"variable",
     "threads (1, 0, 0) and (2, 0, 0): memory is written at line 51 and written at line 50 without "
     "a barrier between; put __syncwarp() or __syncthreads() there"},
    {"copied_while_stored",
     "thread (0, 0, 0): memory is written at line 58, but the asynchronous copy from it at line 56 "
     "has not been waited for by the thread that started it"},
    {"copied_in_the_second_group",
     "thread (0, 0, 0): memory is written at line 70, but the asynchronous copy from it at line 66 "
     "has not been waited for by the thread that started it"},
    {"copied_for_another",
     "threads (0, 0, 0) and (32, 0, 0): memory is written at line 79 and read by an asynchronous "
     "copy at line 76 without a barrier between; the threads are of different warps: put "
     "__syncthreads() there"},
    {"stored_before_a_copy",
     "threads (0, 0, 0) and (32, 0, 0): memory is read by an asynchronous copy at line 85 and "
     "written at line 84 without a barrier between; the threads are of different warps: put "
     "__syncthreads() there"},
};
INSTANTIATE_TEST_SUITE_P(Races, EmulateMemory, ::testing::ValuesIn(races),
                         [](const auto& test) { return std::string(test.param.kernel); });

// ---- No races

struct Right {
  const char* kernel;
  std::uint32_t blocks;
  int expected;  // in y[0]
};

TEST(EmulateMemories, WhatIsInAnOrderIsNoFault) {
  NEEDS_CHECKS();
  static const EmulatedModule right =
      module_with_check(true, with_parts(R"(
__global__ void barriers(int* x, int* y) {
  const int t = threadIdx.x;
  x[t] = t;
  __syncthreads();
  y[t] = x[63 - t];
  __syncthreads();
  x[t] = y[t] + 1;
  __syncwarp();
  y[t] = x[t ^ 1];
}
__global__ void one_value(int* x, int* y) {
  y[0] = 7;
  __syncthreads();
  x[threadIdx.x] = y[0];
}
__global__ void bytes(unsigned char* x, int* y) {
  x[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 16) y[threadIdx.x] = ((int*)x)[threadIdx.x];
}
__global__ void atomics(int* x, int* y) {
  atomicAdd(x, 1);
  atomicMax(x + 1, int(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) y[0] = x[0] + x[1];
}
__global__ void flag(int* x, int* y) {
  const int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 8; ++i) y[i] = 7;
    __threadfence_block();
    *(volatile int*)(x + 1) = 1;
  } else if (t == 32) {
    while (*(volatile int*)(x + 1) == 0) __nanosleep(1);
    __threadfence_block();
    for (int i = 0; i < 8; ++i) y[i] += 1;
  }
}
__global__ void lock(int* x, int* y) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(x, 0, 1) != 0) __nanosleep(1);
  __threadfence();
  *y = *y + 1;
  __threadfence();
  atomicExch(x, 0);
}
__global__ void copies(int* x, int* y) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[t], x + t);
  tw::commit_copies();
  tw::wait_copies<0>();
  x[t] = 5;
  __syncthreads();
  x[t ^ 32] = tile[t];
  tw::copy_async<4>(&tile[t], x + (t ^ 32));
  tw::commit_copies();
  tw::wait_copies<0>();
  y[t] = tile[t];
}
__global__ void blocks(int* x, int* y) {
  x[threadIdx.x + 64 * blockIdx.x] = 1;
  y[(threadIdx.x + 1) % 64] = x[threadIdx.x + 64 * (blockIdx.x ^ 1)] & 0;
}
__global__ void own_arrays(int* x, int* y) {
  int part[16];
  for (int i = 0; i < 16; ++i) part[(i + x[0]) % 16] = i + threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = part[x[0] + threadIdx.x % 16];
}
__global__ void shared_counter(int* x, int* y) {
  __shared__ bool is_last;
  x[threadIdx.x + 64 * blockIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(y, 1) == int(gridDim.x) - 1;
  __syncthreads();
  if (is_last && threadIdx.x == 0)
    for (int i = 0; i < 64; ++i) y[0] += (x[i] + x[64 + i]) - (i < 2);
}
)"),
                        {"barriers", "one_value", "bytes", "atomics", "flag", "lock", "copies",
                         "blocks", "own_arrays", "shared_counter"});
  const WithCheck check(true);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const WithSeed with(seed);
    for (const auto& [kernel, blocks, expected] : std::vector<Right>{{"barriers", 1, 63},
                                                                     {"one_value", 1, 7},
                                                                     {"bytes", 1, 0x03020100},
                                                                     {"atomics", 1, 64 + 63},
                                                                     {"flag", 1, 8},
                                                                     {"lock", 1, 2},
                                                                     {"copies", 1, 0},
                                                                     {"blocks", 2, 0},
                                                                     {"own_arrays", 1, 0},
                                                                     {"shared_counter", 2, 128}}) {
      SCOPED_TRACE(kernel);
      std::vector<int> x(128), y(128);
      right.run(kernel, {.grid = {blocks, 1, 1}, .block = {64, 1, 1}}, x.data(), y.data());
      EXPECT_EQ(y[0], expected);
    }
  }
}

// ---- Tensor maps

const EmulatedModule& map_module() {
  static const EmulatedModule module = module_with_check(
      true,
      with_parts(R"(
struct Slot {
  float tile[64];
};
__global__ void copied_behind_a_store(const __grid_constant__ tw::TensorMap map, float* x) {
  __shared__ __align__(1024) Slot slot;
  __shared__ unsigned long long words[2];
  tw::set_up_ring<1>(words, 2);
  x[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    tw::acquire<1>(words, 0, 256);
    tw::copy_map(&slot, map, words, 0, 0);
  }
  tw::await<1>(words, 0);
}
__global__ void stored_while_copied(const __grid_constant__ tw::TensorMap map, float* x) {
  __shared__ __align__(1024) Slot slot;
  __shared__ unsigned long long words[2];
  tw::set_up_ring<1>(words, 2);
  __syncthreads();
  if (threadIdx.x == 0) {
    tw::acquire<1>(words, 0, 256);
    tw::copy_map(&slot, map, words, 0, 0);
    x[5] = 1;
  }
  tw::await<1>(words, 0);
}
__global__ void loaded_while_stored(const __grid_constant__ tw::TensorMap map, float* x) {
  __shared__ __align__(1024) Slot slot;
  slot.tile[threadIdx.x] = 3;
  tw::show_to_products();
  __syncthreads();
  tw::store_map(&slot, map, 0, 0);
  tw::wait_stores<0>();
  __syncthreads();
  x[64 + threadIdx.x] = x[threadIdx.x];
}
__global__ void in_order(const __grid_constant__ tw::TensorMap map, float* x) {
  __shared__ __align__(1024) Slot slot;
  __shared__ unsigned long long words[2];
  tw::set_up_ring<1>(words, 2);
  __syncthreads();
  if (threadIdx.x == 0) {
    tw::acquire<1>(words, 0, 256);
    tw::copy_map(&slot, map, words, 0, 0);
  }
  tw::await<1>(words, 0);
  x[threadIdx.x] = slot.tile[threadIdx.x] + 1;
  slot.tile[threadIdx.x] = 3;
  tw::show_to_products();
  __syncthreads();
  if (threadIdx.x == 0) {
    tw::store_map(&slot, map, 0, 0);
    tw::wait_stores<1>();
  }
  __syncthreads();
  x[64 + threadIdx.x] = x[threadIdx.x];
}
)",
                 {"ptx", "ring"}),
      {"copied_behind_a_store", "stored_while_copied", "loaded_while_stored", "in_order"});
  return module;
}

// As ring.cuh has it: a line of 64 floats.
struct alignas(64) LineMap {
  explicit LineMap(void* memory) : address(memory) {}
  void* address;
  unsigned element_bytes = 4, rank = 2;
  std::uint64_t sizes[5] = {64, 1};
  std::uint64_t strides[4] = {256};
  std::uint16_t box[5] = {64, 1};
  std::uint16_t swizzle_bytes = 0, rounds_to_tf32 = 0;
};
static_assert(sizeof(LineMap) == 128);

// What is said with this seed; nothing when there is no fault.
std::string fault_by_maps(const char* kernel, std::uint64_t seed) {
  const WithCheck check(true);
  const WithSeed with(seed);
  alignas(16) float x[128] = {};
  try {
    map_module().run(kernel, {.block = {64, 1, 1}}, LineMap(x), static_cast<float*>(x));
  } catch (const KernelFault& fault) {
    return sentence_of(fault);
  }
  return "";
}

TEST(EmulateMemories, CopiesAndStoresOfTensorMapsAreFollowed) {
  NEEDS_CHECKS();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_NE(
        fault_by_maps("copied_behind_a_store", seed)
            .find("by a copy of a tensor map at line 12, which sees no stores of its own block"),
        std::string::npos);
    EXPECT_EQ(fault_by_maps("stored_while_copied", seed),
              "thread (0, 0, 0): memory is written at line 24, but the copy of a tensor map from "
              "it at line 23 has not "
              "been waited for by the thread that started it");
    EXPECT_NE(fault_by_maps("loaded_while_stored", seed)
                  .find("but the store of a tensor map into it at line 33 has not been waited for"),
              std::string::npos);
    EXPECT_EQ(fault_by_maps("in_order", seed), "");
  }
}

TEST(EmulateMemories, WhatThreadsAllocateIsNotFollowed) {
  NEEDS_CHECKS();
  const EmulatedModule heap = module_with_check(true, R"(
__global__ void allocate(int* x) {
  int* const own = new int[16];
  own[threadIdx.x % 16] = threadIdx.x;
  x[threadIdx.x] = own[threadIdx.x % 16];
  delete[] own;
}
)",
                                                {"allocate"});
  const WithCheck check(true);
  std::vector<int> x(64);
  heap.run("allocate", {.block = {64, 1, 1}}, x.data());
  EXPECT_EQ(x[63], 63);
}

}  // namespace
}  // namespace tilewright
