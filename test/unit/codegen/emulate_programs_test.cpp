// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_programs_test.cpp — whole kernels as people write them, on the CPU.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "codegen/device_lib/emulate/fibers.h"
#include "emulated_module.h"
#include "tilewright/dtype.h"

namespace tilewright {
namespace {

#define NEEDS_FIBERS() \
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer"

// A template's dynamic shared memory through a class, warp reductions with default arguments,
// vector accesses, a ticket for the last block, device lambdas.
const EmulatedModule& module() {
  static const EmulatedModule programs(R"cuda(
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <limits>
#define WARP_SIZE 32
#define FLOAT4(x) (reinterpret_cast<float4*>(&(x))[0])
#define HALF2(x) (reinterpret_cast<half2*>(&(x))[0])

template <typename T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int memory[];
    return (T*)memory;
  }
};
template <class T, unsigned int Threads>
__global__ void sum(const T* in, T* out, unsigned int n) {
  T* data = SharedMemory<T>();
  unsigned int t = threadIdx.x;
  T mine = 0;
  for (unsigned int i = blockIdx.x * Threads + t; i < n; i += Threads * gridDim.x) mine += in[i];
  data[t] = mine;
  __syncthreads();
  if ((Threads >= 256) && (t < 128)) data[t] = mine = mine + data[t + 128];
  __syncthreads();
  if ((Threads >= 128) && (t < 64)) data[t] = mine = mine + data[t + 64];
  __syncthreads();
  if (t < 32) {
    if (Threads >= 64) mine += data[t + 32];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffff, mine, offset);
  }
  if (t == 0) out[blockIdx.x] = mine;
}

template <const int Lanes = WARP_SIZE>
__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int mask = Lanes >> 1; mask >= 1; mask >>= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, mask));
  return value;
}
__forceinline__ __device__ float warp_sum(float value) {
#pragma unroll
  for (int mask = 16; mask >= 1; mask >>= 1) value += __shfl_xor_sync(0xffffffffu, value, mask, 32);
  return value;
}
inline __host__ __device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
__global__ void __launch_bounds__(1024) softmax(const float* __restrict__ x, float* __restrict__ y, const int n) {
  const int row = blockIdx.x, t = threadIdx.x, lane = t % WARP_SIZE, warp = t / WARP_SIZE;
  __shared__ float parts[32];
  float m = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) m = max(m, __ldg(x + row * n + i));
  m = warp_max<>(m);
  if (lane == 0) parts[warp] = m;
  __syncthreads();
  m = (lane < ceil_div(blockDim.x, WARP_SIZE)) ? parts[lane] : -std::numeric_limits<float>::infinity();
  m = warp_max<WARP_SIZE>(m);
  __syncthreads();
  float s = 0.f;
  for (int i = t; i < n; i += blockDim.x) s += __expf(x[row * n + i] - m);
  s = warp_sum(s);
  if (lane == 0) parts[warp] = s;
  __syncthreads();
  s = lane < ceil_div(blockDim.x, WARP_SIZE) ? parts[lane] : 0.f;
  s = warp_sum(s);
  for (int i = t; i < n; i += blockDim.x) y[row * n + i] = __expf(x[row * n + i] - m) / s;
}

__global__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][32 + 1];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y, width = gridDim.x * 32, height = gridDim.y * 32;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void add4(float* a, float* b, float* c, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float4 left = FLOAT4(a[i]), right = FLOAT4(b[i]), sum;
  sum.x = left.x + right.x; sum.y = left.y + right.y; sum.z = left.z + right.z; sum.w = left.w + right.w;
  FLOAT4(c[i]) = sum;
}
__global__ void add8_half(half* a, half* b, half* c, int n) {
  int at = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (at + 7 >= n) return;
  alignas(16) half left[8], right[8], sum[8];
  FLOAT4(left[0]) = FLOAT4(a[at]);
  FLOAT4(right[0]) = FLOAT4(b[at]);
#pragma unroll
  for (int i = 0; i < 8; i += 2) HALF2(sum[i]) = __hadd2(HALF2(left[i]), HALF2(right[i]));
  FLOAT4(c[at]) = FLOAT4(sum[0]);
}

__device__ unsigned int finished = 0;
__global__ void sum_by_last_block(float* partial, float* out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    *out = 0;
    for (int i = 0; i < gridDim.x; ++i) *out += partial[i];
  }
}

enum class Mode : int { Plain, Negated };
template <Mode M, typename F>
__device__ auto apply(F f, float x) {
  if constexpr (M == Mode::Plain) return f(x);
  else return -f(x);
}
__global__ void lambda(float* x) {
  auto twice = [=] __device__(float v) { return v * 2.0f; };
  x[threadIdx.x] = apply<Mode::Negated>(twice, x[threadIdx.x]);
}
)cuda",
                                       {"sum<float, 256>", "sum<int, 64>", "softmax", "transpose",
                                        "add4", "add8_half", "sum_by_last_block", "lambda"});
  return programs;
}

TEST(EmulatePrograms, TemplateSumThroughAClassOfSharedMemory) {
  NEEDS_FIBERS();
  const std::vector<float> x(10000, 0.25f);
  std::vector<float> out(7);
  module().run("sum<float, 256>",
               {.grid = {7, 1, 1}, .block = {256, 1, 1}, .shared_bytes = 1024, .threads = 2},
               x.data(), out.data(), 10000u);
  EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0.0f), 2500.0f);
  std::vector<int> ints(1000, 3), sums(1);
  module().run("sum<int, 64>", {.block = {64, 1, 1}, .shared_bytes = 256}, ints.data(), sums.data(),
               1000u);
  EXPECT_EQ(sums[0], 3000);
}

TEST(EmulatePrograms, Softmax) {
  NEEDS_FIBERS();
  for (int n : {1, 33, 1000}) {
    const std::size_t rows = 3, columns = static_cast<std::size_t>(n);
    std::vector<float> x(rows * columns), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 5;
    module().run("softmax", {.grid = {rows, 1, 1}, .block = {128, 1, 1}}, x.data(), y.data(), n);
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < columns; ++i) sum += std::exp(double{x[row * columns + i]});
      for (std::size_t i = 0; i < columns; ++i)
        ASSERT_NEAR(y[row * columns + i], std::exp(double{x[row * columns + i]}) / sum, 1e-6);
    }
  }
}

TEST(EmulatePrograms, TransposeThroughATile) {
  NEEDS_FIBERS();
  const std::size_t width = 64, height = 96;
  std::vector<float> in(width * height), out(in.size());
  std::iota(in.begin(), in.end(), 0.0f);
  module().run("transpose", {.grid = {2, 3, 1}, .block = {32, 8, 1}}, out.data(), in.data());
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) ASSERT_EQ(out[x * height + y], in[y * width + x]);
}

TEST(EmulatePrograms, VectorAccesses) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "kernels with barriers are not emulated under the thread sanitizer";
#endif
  alignas(16) float a[40], b[40], c[40] = {};
  alignas(16) Half ha[40], hb[40], hc[40] = {};
  for (int i = 0; i < 40; ++i) {
    a[i] = static_cast<float>(i), b[i] = 0.5f;
    ha[i] = Half(a[i]), hb[i] = Half(b[i]);
  }
  module().run("add4", {.block = {16, 1, 1}}, &a[0], &b[0], &c[0], 40);
  module().run("add8_half", {.block = {16, 1, 1}}, &ha[0], &hb[0], &hc[0], 40);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(c[i], a[i] + 0.5f);
    EXPECT_EQ(static_cast<float>(hc[i]), a[i] + 0.5f);
  }
}

TEST(EmulatePrograms, TheLastBlockSums) {
  NEEDS_FIBERS();
  std::vector<float> partial(20);
  for (int round = 0; round < 3; ++round) {
    float out = -1;
    module().run("sum_by_last_block", {.grid = {20, 1, 1}, .block = {64, 1, 1}, .threads = 4},
                 partial.data(), &out);
    EXPECT_EQ(out, 210.0f);
  }
}

TEST(EmulatePrograms, DeviceLambdas) {
  std::vector<float> x = {1, 2, 3};
  module().run("lambda", {.block = {3, 1, 1}}, x.data());
  EXPECT_EQ(x, (std::vector<float>{-2, -4, -6}));
}

}  // namespace
}  // namespace tilewright
