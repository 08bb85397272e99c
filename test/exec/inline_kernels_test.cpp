// SPDX-License-Identifier: Apache-2.0
// exec/inline_kernels_test.cpp — CUDA kernels launched by name, emulated and on a GPU, against
// float64 references.
#include "inline_on.h"

namespace tilewright {
namespace {

class InlineKernels : public InlineOn {};
TW_INLINE_ON_ALL(InlineKernels);

TEST_P(InlineKernels, MatrixSquare) {
  const InlineModule m = load(R"(
__global__ void square_matrix(const float* in, float* out, int width, int height) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < height && column < width) {
    const int i = row * width + column;
    out[i] = in[i] * in[i];
  }
}
)");
  for (auto [height, width] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 17}, {130, 95}}) {
    const Tensor x = random({height, width});
    const Tensor y = empty_like(x);
    m.kernel("square_matrix")[{.grid = {cdiv(width, 16), cdiv(height, 16)}, .block = {16, 16}}](
        x, y, width, height);
    std::vector<double> expected;
    for (double v : numbers(x)) expected.push_back(v * v);
    expect_near(y, expected, 1e-6);
  }
}

TEST_P(InlineKernels, SharedMemoryReduction) {
  const InlineModule m = load(R"(
template <int threads> __device__ float block_total(float v, float* partial) {
  partial[threadIdx.x] = v;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  return partial[0];
}
__global__ void __launch_bounds__(128) total_static(const float* x, float* out, int n) {
  __shared__ float partial[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float sum = block_total<128>(i < n ? x[i] : 0.f, partial);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void total_dynamic(const float* x, float* out, int n) {
  extern __shared__ float scratch[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = block_total<128>(i < n ? x[i] : 0.f, scratch);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
)");
  EXPECT_EQ(m.kernels(), (std::vector<std::string>{"total_static", "total_dynamic"}));
  for (std::int64_t n : {1, 127, 128, 5001}) {
    const Tensor x = random({n});
    double expected = 0;
    for (double v : numbers(x)) expected += v;
    const Tensor a = zeros({1}, TensorOptions(f32, device())),
                 b = zeros({1}, TensorOptions(f32, device()));
    m.kernel("total_static")[{.grid = cdiv(n, 128), .block = 128}](x, a, n);
    m.kernel(
        "total_dynamic")[{.grid = cdiv(n, 128), .block = 128, .shared_bytes = 128 * sizeof(float)}](
        x, b, n);
    EXPECT_NEAR(a.item<double>(), expected, 1e-3);
    EXPECT_NEAR(b.item<double>(), expected, 1e-3);
  }
}

TEST_P(InlineKernels, ShuffleReduction) {
  const InlineModule m = load(R"(
__device__ float warp_total(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}
__global__ void row_totals(const float* x, float* out, int columns) {
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += x[blockIdx.x * columns + i];
  sum = warp_total(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
)");
  for (std::int64_t columns : {1, 31, 33, 1000}) {
    const std::int64_t rows = 7;
    const Tensor x = random({rows, columns});
    const Tensor out = empty({rows}, TensorOptions(f32, device()));
    m.kernel("row_totals")[{.grid = rows, .block = 32}](x, out, columns);
    std::vector<double> expected(static_cast<std::size_t>(rows), 0);
    const auto values = numbers(x);
    for (std::size_t i = 0; i < values.size(); ++i)
      expected[i / static_cast<std::size_t>(columns)] += values[i];
    expect_near(out, expected, 1e-4);
  }
}

TEST_P(InlineKernels, TiledMatmul) {
  const InlineModule m = load(R"(
#define TILE 16
__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.f;
  for (int k = 0; k < K; k += TILE) {
    as[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? a[row * K + k + threadIdx.x] : 0.f;
    bs[threadIdx.y][threadIdx.x] = column < N && k + threadIdx.y < K ? b[(k + threadIdx.y) * N + column] : 0.f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum = fmaf(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < M && column < N) c[row * N + column] = sum;
}
)");
  for (auto [M, N, K] : {std::array<std::int64_t, 3>{1, 1, 1}, {33, 20, 50}, {64, 48, 32}}) {
    const Tensor a = random({M, K}), b = random({K, N}, f32, 8),
                 c = empty({M, N}, TensorOptions(f32, device()));
    m.kernel("matmul")[{.grid = {cdiv(N, 16), cdiv(M, 16)}, .block = {16, 16}}](a, b, c, M, N, K);
    const auto x = numbers(a), y = numbers(b);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < N; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < K; ++k)
          sum += x[static_cast<std::size_t>(i * K + k)] * y[static_cast<std::size_t>(k * N + j)];
        expected.push_back(sum);
      }
    expect_near(c, expected, 1e-4);
  }
}

TEST_P(InlineKernels, TemplatesByNameExpression) {
  const InlineModule m = load(R"(
#include <cuda_fp16.h>
namespace detail {
template <typename T, int N> __global__ void scale(const T* x, T* y, float s) {
  for (int i = 0; i < N; ++i) y[threadIdx.x * N + i] = T(float(x[threadIdx.x * N + i]) * s);
}
}
)");
  EXPECT_EQ(m.kernels(), std::vector<std::string>{"detail::scale"});
  for (const char* name : {"detail::scale<float, 4>", "scale<float,4>"}) {
    const Tensor x = random({32 * 4}), y = empty_like(x);
    m.kernel(name)[{.block = 32}](x, y, 3.0);
    std::vector<double> expected;
    for (double v : numbers(x)) expected.push_back(3 * v);
    expect_near(y, expected, 1e-6);
  }
  const Tensor x = random({64}, f16), y = empty_like(x);
  m.kernel("detail::scale<__half, 2>")[{.block = 32}](x, y, 2.0f);
  std::vector<double> expected;
  for (double v : numbers(x)) expected.push_back(2 * v);
  expect_near(y, expected, 1e-6);
  EXPECT_EQ(
      message_of<ArgumentError>([&] { m.kernel("scale<float, 4>")[{.block = 32}](x, y, 2.0f); }),
      "argument 1 'x' of kernel 'detail::scale<float, 4>' must be a pointer to float32, got a "
      "tensor of float16");
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("scale"); }),
            "kernel 'detail::scale' is a template; name its arguments, as in detail::scale<float>");
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("scale<float"); }),
            "'scale<float' is no kernel's name: what its template gets stands between < and >, as "
            "in scale<float>");
}

TEST_P(InlineKernels, StructsAliasesConditionsAndMacros) {
  InlineOptions options;
  options.cuda_sources = {R"(
typedef float real;
struct Affine { real a, b; __device__ real operator()(real x) const { return a * x + b; } };
#ifdef WITH_KERNEL
__global__ void apply(real* x, Affine f, int n) { int i = threadIdx.x; if (i < n) x[i] = f(x[i]); }
#else
__global__ void other(real* x) {}
#endif
)",
                          "constexpr int twice(int n) { return 2 * n; }\n"
                          "__global__ void shift(int* p) { p[threadIdx.x] += twice(OFFSET); }\n"};
  options.macros = {"WITH_KERNEL", "OFFSET=5"};
  options.device = device();
  const InlineModule m = load_inline(options);
  struct Affine {
    float a, b;
  };
  const Tensor x = on_device({1, 2, 3});
  const Affine affine{2, 10};
  m.kernel("apply")[{.block = 32}](x, Argument::of_struct(affine), 3);
  EXPECT_EQ(numbers(x), (std::vector<double>{12, 14, 16}));
  const Tensor p = zeros({4}, TensorOptions(i32, device()));
  m.kernel("shift")[{.block = 4}](p);
  EXPECT_EQ(numbers(p), (std::vector<double>{10, 10, 10, 10}));
}

// Also those that our own parts of the text use as names.
TEST_P(InlineKernels, MacrosOfAnyName) {
  InlineOptions options;
  // CUDA's own header of half precision cannot stand such macros, ours can.
  const bool has_half = !device().is_cuda();
  options.cuda_sources = {std::string(has_half ? "#include <cuda_fp16.h>\n" : "") +
                          R"(#include <torch/extension.h>
__global__ void k(float* p) { p[0] = T(N) + x + i + Value; p[1] = )" +
                          (has_half ? "__half2float(__float2half(DOUBLE(4)))" : "DOUBLE(4)") +
                          R"(; }
torch::Tensor f(torch::Tensor t) { k<<<1, 1>>>(t.data_ptr<T>()); return t; }
)"};
  options.functions = {"f"};
  options.macros = {"T=float", "N=1", "x=2", "i=3", "Value=4"};
  options.extra_cuda_cflags = {"-DDOUBLE(n)=(2*(n))"};
  options.extra_cflags = {"-DDOUBLE(n)=(2*(n))"};
  options.device = device();
  const InlineModule m = load_inline(options);
  const Tensor p = on_device({0, 0});
  m("f", p);
  EXPECT_EQ(numbers(p), (std::vector<double>{10, 8}));
  options.functions = {};
  options.cuda_sources = {};
  options.cpp_sources = {"void k(float* p) { p[0] = T(N) + x + i + Value; }"};
  options.device = Device::cpu();
  const Tensor q = zeros({1}, Device::cpu());
  load_inline(options).kernel("k")[{}](q);
  EXPECT_EQ(q.item<int>(), 10);
}

TEST_P(InlineKernels, PrintfWorks) {
  const InlineModule m = load(R"(
#include <stdio.h>
__global__ void hello(int n) { if (threadIdx.x == 1) printf("hello %d from thread %d\n", n, (int)threadIdx.x); }
)");
  testing::internal::CaptureStdout();
  m.kernel("hello")[{.block = 3}](42);
  device().synchronize();
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello 42 from thread 1\n");
}

TEST_P(InlineKernels, LoadingTwiceGivesTheSame) {
  const char* const source = "__global__ void one(float* x) { x[threadIdx.x] = 1.f; }";
  const Tensor x = zeros({3}, TensorOptions(f32, device()));
  load(source).kernel("one")[{.block = 3}](x);
  load(source).kernel("one")[{.block = 3}](x);
  EXPECT_EQ(numbers(x), (std::vector<double>{1, 1, 1}));
}

TEST_P(InlineKernels, EmptyGridLaunchesNothing) {
  const InlineModule m = load("__global__ void one(float* x) { x[threadIdx.x] = 1.f; }");
  const Tensor x = zeros({1}, TensorOptions(f32, device()));
  m.kernel("one")[{.grid = 0, .block = 1}](x);
  EXPECT_EQ(numbers(x), std::vector<double>{0});
}

}  // namespace
}  // namespace tilewright
