// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_test.cpp — CUDA kernels on the CPU: results, sizes, thread orders.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "codegen/device_lib/emulate/fibers.h"
#include "emulated_module.h"

namespace tilewright {
namespace {

#define NEEDS_FIBERS() \
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer"

std::vector<float> ramp(std::size_t count, float scale = 0.01f) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = scale * (static_cast<float>(i % 997) - 498.0f);
  return out;
}

std::uint32_t blocks_for(std::size_t count, std::uint32_t block) {
  return static_cast<std::uint32_t>((count + block - 1) / block);
}

// ---- Kernels without barriers.

const EmulatedModule& plain_module() {
  static const EmulatedModule module(
      R"(
#include <cuda_runtime.h>
#include <math.h>
#include "stdio.h"
__global__ void add(const float* __restrict__ a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void gelu_kernel(float* in, float* out, int num_elements) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num_elements) {
        // 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
        out[i] = 0.5 * in[i] * (1.0 + tanh(0.79788456 * (in[i] + 0.044715 * in[i] * in[i] * in[i])));
    }
}
__global__ void matrix_square(const float* a, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * a[k * n + column];
  c[row * n + column] = sum;
}
template <typename T, int Factor>
__global__ void __launch_bounds__(256) scale(T* x, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) x[i] *= Factor;
}
__constant__ float coefficients[3] = {1.0f, 2.0f, 3.0f};
__device__ int launches = 0;
__device__ __forceinline__ float polynomial(float x) { return coefficients[0] + x * (coefficients[1] + x * coefficients[2]); }
namespace inner {
static __global__ void globals(float* x) {
  x[threadIdx.x] = polynomial(x[threadIdx.x]);
  if (threadIdx.x == 0) x[blockDim.x] = atomicAdd(&launches, 1) + 1;
}
}
__global__ void places(uint3* out) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = make_uint3(threadIdx.x + 10 * blockIdx.x, threadIdx.y + 10 * blockIdx.y, threadIdx.z + 10 * blockIdx.z);
}
struct Pair { float first; double second; };
extern "C" __global__ void by_value(Pair pair, char flag, float4 v, double* out) {
  pair.first += 1;
  out[0] = pair.first + pair.second + flag + v.w;
}
__global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1);
}
__global__ void say(int n) { if (threadIdx.x < n) printf("thread %d of %s: %.2f\n", threadIdx.x, "block", 0.5f * threadIdx.x); }
)",
      {"add", "gelu_kernel", "matrix_square", "scale<float, 4>", "scale<double, 3>",
       "inner::globals", "places", "by_value", "histogram", "say"});
  return module;
}

TEST(Emulate, PlainKernelsNeedNoFibers) {
  for (const char* kernel : {"add", "gelu_kernel", "scale<float, 4>"})
    EXPECT_FALSE(plain_module().with_barriers(kernel));
}

TEST(Emulate, VectorAddOfAllSizes) {
  for (std::size_t n : {0, 1, 2, 31, 255, 256, 257, 10000}) {
    const std::vector<float> a = ramp(n), b = ramp(n, 2.0f);
    std::vector<float> c(n + 1, -1.0f);
    plain_module().run(
        "add",
        {.grid = {blocks_for(n, 256), 1, 1}, .block = {256, 1, 1}, .threads = n > 5000 ? 4 : 1},
        a.data(), b.data(), c.data(), static_cast<int>(n));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
    EXPECT_EQ(c[n], -1.0f);
  }
}

TEST(Emulate, GeluHasDoubleConstants) {
  const std::size_t n = 1000;
  std::vector<float> in = ramp(n), out(n);
  plain_module().run("gelu_kernel", {.grid = {1, 1, 1}, .block = {1024, 1, 1}}, in.data(),
                     out.data(), static_cast<int>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const double x = in[i];
    EXPECT_NEAR(out[i], 0.5 * x * (1.0 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x))), 1e-6)
        << x;
  }
}

TEST(Emulate, MatrixSquareOverATwoDimensionalGrid) {
  const int n = 37;
  const std::vector<float> a = ramp(n * n);
  std::vector<float> c(n * n);
  plain_module().run("matrix_square", {.grid = {3, 3, 1}, .block = {16, 16, 1}, .threads = 3},
                     a.data(), c.data(), n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double{a[i * n + k]} * a[k * n + j];
      EXPECT_NEAR(c[i * n + j], sum, 1e-2);
    }
}

TEST(Emulate, TemplateKernelsByNameExpression) {
  std::vector<float> x = ramp(1001), y = x;
  plain_module().run("scale<float, 4>", {.grid = {2, 1, 1}, .block = {32, 1, 1}}, y.data(),
                     y.size());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 4 * x[i]);
  std::vector<double> d(5, 2.0);
  plain_module().run("scale<double, 3>", {.grid = {1, 1, 1}, .block = {2, 1, 1}}, d.data(),
                     d.size());
  EXPECT_EQ(d, std::vector<double>(5, 6.0));
}

TEST(Emulate, GlobalVariablesKeepTheirValues) {
  std::vector<float> x = {0, 1, 2, 0};
  plain_module().run("inner::globals", {.block = {3, 1, 1}}, x.data());
  EXPECT_EQ(x, (std::vector<float>{1, 6, 17, 1}));
  plain_module().run("inner::globals", {.block = {3, 1, 1}}, x.data());
  EXPECT_EQ(x[3], 2);
}

TEST(Emulate, IndicesOfThreeDimensions) {
  const Blocks shape{.grid = {2, 3, 4}, .block = {5, 2, 3}};
  struct Place {
    unsigned x, y, z;
  };
  std::vector<Place> out(24 * 30);
  plain_module().run("places", shape, out.data());
  std::size_t i = 0;
  for (unsigned bz = 0; bz < 4; ++bz)
    for (unsigned by = 0; by < 3; ++by)
      for (unsigned bx = 0; bx < 2; ++bx)
        for (unsigned z = 0; z < 3; ++z)
          for (unsigned y = 0; y < 2; ++y)
            for (unsigned x = 0; x < 5; ++x, ++i) {
              ASSERT_EQ(out[i].x, x + 10 * bx);
              ASSERT_EQ(out[i].y, y + 10 * by);
              ASSERT_EQ(out[i].z, z + 10 * bz);
            }
}

TEST(Emulate, ParametersByValueAreEachThreadsOwn) {
  struct Pair {
    float first;
    double second;
  };
  struct alignas(16) Four {
    float x, y, z, w;
  };
  double out = 0;
  plain_module().run("by_value", {.block = {4, 1, 1}}, Pair{1, 2}, char{3}, Four{0, 0, 0, 4}, &out);
  EXPECT_EQ(out, 11);
}

TEST(Emulate, HistogramWithAtomicsFromSeveralThreads) {
  std::vector<unsigned char> data(20000);
  std::vector<unsigned> bins(256), expected(256);
  for (std::size_t i = 0; i < data.size(); ++i)
    ++expected[data[i] = static_cast<unsigned char>(i * i % 251)];
  plain_module().run("histogram", {.grid = {200, 1, 1}, .block = {100, 1, 1}, .threads = 4},
                     data.data(), bins.data(), 20000);
  EXPECT_EQ(bins, expected);
}

TEST(Emulate, PrintfWritesToStandardOutput) {
  testing::internal::CaptureStdout();
  plain_module().run("say", {.block = {8, 1, 1}}, 2);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "thread 0 of block: 0.00\nthread 1 of block: 0.50\n");
}

// ---- Kernels with barriers.

const EmulatedModule& barrier_module() {
  static const EmulatedModule module = module_with_check(
      false,
      R"(
__global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  partial[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}
template <class T> __device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}
template <class T> __global__ void shuffle_sum(const T* x, T* out, int n) {
  static __shared__ T warps[32];
  T sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : T(0);
    sum = warp_sum(sum);
    if (threadIdx.x == 0) *out = sum;
  }
}
template <int Tile> __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[Tile][Tile], bs[Tile][Tile + 1];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * Tile + ty, column = blockIdx.x * Tile + tx;
  float sum = 0;
  for (int k = 0; k < n; k += Tile) {
    as[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
    bs[ty][tx] = column < n && k + ty < n ? b[(k + ty) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < Tile; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
extern __shared__ __align__(16) char everything[];
__global__ void matmul_dynamic(const float* a, const float* b, float* c, int n) {
  float* as = reinterpret_cast<float*>(everything);
  float* bs = as + blockDim.x * blockDim.x;
  int d = blockDim.x, tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * d + ty, column = blockIdx.x * d + tx;
  float sum = 0;
  for (int k = 0; k < n; k += d) {
    as[ty * d + tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
    bs[ty * d + tx] = column < n && k + ty < n ? b[(k + ty) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < d; ++i) sum += as[ty * d + i] * bs[i * d + tx];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
__global__ void reverse(int* x) {
  extern __shared__ int ints[];
  ints[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = ints[blockDim.x - 1 - threadIdx.x];
}
__global__ void leave_early(int* out, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x >= n) return;
  atomicAdd(&sum, 1);
  __syncthreads();
  out[threadIdx.x] = sum + __syncthreads_count(threadIdx.x % 2) * 1000;
}
__global__ void missing_barrier(int* x) {
  __shared__ int tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[127 - threadIdx.x];
}
__global__ void racy(int* x) {
  __shared__ int tile[128];
  tile[threadIdx.x] = 0;
  __syncthreads();
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[(threadIdx.x + 1) % 128];
}
__device__ int lock = 0;
__global__ void critical(int* counter) {
  bool done = false;
  __syncthreads();
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      *counter = *counter + 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}
__global__ void handover(volatile int* flag) {
  if (threadIdx.x == 0) while (*flag == 0) __nanosleep(100);
  else *flag = 1;
}
)",
      {"block_sum", "shuffle_sum<float>", "shuffle_sum<double>", "shuffle_sum<int>", "matmul<8>",
       "matmul<16>", "matmul_dynamic", "reverse", "leave_early", "racy", "missing_barrier",
       "critical", "handover"});
  return module;
}

TEST(Emulate, OnlyKernelsThatReachABarrierNeedFibers) {
  EXPECT_TRUE(barrier_module().with_barriers("block_sum"));
  EXPECT_TRUE(barrier_module().with_barriers("shuffle_sum<float>"));
  EXPECT_TRUE(barrier_module().with_barriers("handover"));
  EXPECT_FALSE(barrier_module().with_barriers("missing_barrier"));
}

TEST(Emulate, SharedMemoryReductionForAllSeeds) {
  NEEDS_FIBERS();
  for (std::uint64_t seed : {0, 1, 2, 77}) {
    const WithSeed with(seed);
    for (int n : {0, 1, 100, 1000, 4099}) {
      const std::vector<float> x(static_cast<std::size_t>(n), 0.5f);
      std::vector<float> out(5);
      barrier_module().run("block_sum", {.grid = {5, 1, 1}, .block = {256, 1, 1}, .threads = 3},
                           x.data(), out.data(), n);
      EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0.0f), 0.5f * static_cast<float>(n))
          << seed;
    }
  }
}

template <class T>
void check_shuffle_sum(const char* kernel) {
  std::vector<T> x(1500);
  std::iota(x.begin(), x.end(), T(1));
  for (std::uint32_t block : {32u, 64u, 1024u}) {
    T out = 0;
    barrier_module().run(kernel, {.block = {block, 1, 1}}, x.data(), &out, 1500);
    EXPECT_EQ(out, T(1500 * 1501 / 2)) << block;
  }
}

TEST(Emulate, ShuffleReductionOfSeveralTypes) {
  NEEDS_FIBERS();
  check_shuffle_sum<float>("shuffle_sum<float>");
  check_shuffle_sum<double>("shuffle_sum<double>");
  check_shuffle_sum<int>("shuffle_sum<int>");
}

void check_matmul(const char* kernel, std::uint32_t tile, int n, std::uint64_t shared_bytes) {
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::vector<float> a = ramp(size), b = ramp(size, 0.02f);
  std::vector<float> c(size, -1.0f);
  const std::uint32_t blocks = blocks_for(static_cast<std::size_t>(n), tile);
  barrier_module().run(kernel,
                       {.grid = {blocks, blocks, 1},
                        .block = {tile, tile, 1},
                        .shared_bytes = shared_bytes,
                        .threads = 2},
                       a.data(), b.data(), c.data(), n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double{a[i * n + k]} * b[k * n + j];
      ASSERT_NEAR(c[i * n + j], sum, 2e-2) << kernel << " " << i << " " << j;
    }
}

TEST(Emulate, TiledMatmulWithStaticAndDynamicSharedMemory) {
  NEEDS_FIBERS();
  for (int n : {1, 7, 33}) {
    check_matmul("matmul<8>", 8, n, 0);
    check_matmul("matmul<16>", 16, n, 0);
    check_matmul("matmul_dynamic", 8, n, 2 * 8 * 8 * sizeof(float));
  }
}

TEST(Emulate, DynamicSharedMemoryDeclaredInAKernel) {
  NEEDS_FIBERS();
  std::vector<int> x(100);
  std::iota(x.begin(), x.end(), 0);
  barrier_module().run("reverse", {.block = {100, 1, 1}, .shared_bytes = 400}, x.data());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(x[static_cast<std::size_t>(i)], 99 - i);
}

TEST(Emulate, ThreadsThatEndedCountAsArrived) {
  NEEDS_FIBERS();
  for (int n : {1, 31, 32, 50}) {
    std::vector<int> out(64, -1);
    barrier_module().run("leave_early", {.block = {64, 1, 1}}, out.data(), n);
    for (int i = 0; i < n; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], n + n / 2 * 1000);
    EXPECT_EQ(out[static_cast<std::size_t>(n)], -1);
  }
}

TEST(Emulate, AMissingBarrierShowsWithSomeSeed) {
  NEEDS_FIBERS();
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const WithSeed with(seed);
    std::vector<int> x(128), expected(128);
    for (int i = 0; i < 128; ++i) {
      x[static_cast<std::size_t>(i)] = i + 1;
      expected[static_cast<std::size_t>(i)] = (i + 1) % 128 + 1;
    }
    barrier_module().run("racy", {.block = {128, 1, 1}}, x.data());
    wrong += x != expected;
  }
  EXPECT_GT(wrong, 0);
}

TEST(Emulate, SpinningThreadsLetOthersAdvance) {
  NEEDS_FIBERS();
  int counter = 0;
  barrier_module().run("critical", {.grid = {4, 1, 1}, .block = {64, 1, 1}, .threads = 2},
                       &counter);
  EXPECT_EQ(counter, 256);
  int flag = 0;
  barrier_module().run("handover", {.block = {2, 1, 1}}, &flag);
  EXPECT_EQ(flag, 1);
}

}  // namespace
}  // namespace tilewright
