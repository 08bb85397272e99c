// SPDX-License-Identifier: Apache-2.0
// exec/inline_torch_test.cpp — sources written for PyTorch's load_inline, with their host
// functions.
#include <map>

#include "inline_on.h"
#include "tilewright/ops.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

class InlineTorch : public InlineOn {};
TW_INLINE_ON_ALL(InlineTorch);

double gelu_reference(double x) {
  return 0.5 * x * (1 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x)));
}

const char* const gelu_source = R"(
#include <math.h>
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__global__ void gelu_forward(const float* x, float* y, int count) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= count) return;
  float v = x[i];
  y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}

static inline int blocks_for(int count, int threads) { return (count + threads - 1) / threads; }

torch::Tensor gelu(torch::Tensor x) {
  TORCH_CHECK(x.device().is_cuda(), "x must be a CUDA tensor, not on ", x.device());
  TORCH_CHECK(x.is_contiguous());
  torch::Tensor y = torch::empty_like(x);
  const int count = x.numel();
  const int threads = 256;
  gelu_forward<<<blocks_for(count, threads), threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
)";

TEST_P(InlineTorch, Gelu) {
  const InlineModule m = load(gelu_source, {"gelu"});
  EXPECT_EQ(m.functions(), std::vector<std::string>{"gelu"});
  EXPECT_EQ(m.kernels(), std::vector<std::string>{"gelu_forward"});
  EXPECT_EQ(m.is_emulated(), GetParam() == DeviceKind::Cpu);
  for (std::int64_t n : {0, 1, 255, 257, 100003}) {
    const Tensor x = random({n});
    const Tensor y = m("gelu", x);
    EXPECT_EQ(y.device(), x.device());
    std::vector<double> expected;
    for (double v : numbers(x)) expected.push_back(gelu_reference(v));
    expect_near(y, expected, 1e-6);
  }
}

TEST_P(InlineTorch, AProfileNamesTheFunctionAndItsKernels) {
  const InlineModule m = load(gelu_source, {"gelu"});
  const Tensor x = random({1000}), y = random({1000});
  const Profile p = profile([&] {
    const Tensor unused = m("gelu", x);
    m.kernel("gelu_forward")[{4, 256}](x, y, 1000);
    device().synchronize();
  });
  std::map<std::string, std::string> kinds;
  for (const ProfileRow& row : p.rows({.row_limit = 0, .sort_by = "name", .group_by_stack = true}))
    kinds[row.name] = row.kind;
  EXPECT_EQ(kinds["gelu"], "range");
  EXPECT_EQ(kinds["gelu > gelu_forward"], "launch");
  EXPECT_EQ(kinds["gelu_forward"], "launch");
  for (const auto& [name, kind] : kinds) {
    EXPECT_EQ(name.find("tw_host_call"), std::string::npos) << name;
    EXPECT_EQ(name.find("entry_"), std::string::npos) << name;
  }
}

// The guard that most extensions begin with names no namespace for device_of.
TEST_P(InlineTorch, DeviceGuards) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
__global__ void fill(float* x) { x[threadIdx.x] = 1.0f + threadIdx.x; }
torch::Tensor filled(torch::Tensor x) {
  const at::cuda::OptionalCUDAGuard unqualified(device_of(x));
  const c10::cuda::OptionalCUDAGuard qualified(at::device_of(x));
  fill<<<1, x.numel()>>>(x.data_ptr<float>());
  return x;
}
)",
                              {"filled"});
  EXPECT_EQ(numbers(m("filled", random({3}))), (std::vector<double>{1, 2, 3}));
}

TEST_P(InlineTorch, ChecksSpeak) {
  const InlineModule m = load(gelu_source, {"gelu"});
  const Tensor x = random({4, 6});
  EXPECT_EQ(message_of<UserError>([&] { m("gelu", x.t()); }),
            "function 'gelu' failed: expected x.is_contiguous() (inline_test.cu:17)");
  EXPECT_EQ(message_of<UserError>([&] { m("gelu", x.to(f64)); }),
            "function 'gelu' failed: expected scalar type Float but found Double");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("gelu"); }),
            "function 'gelu' takes 1 argument, got 0");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("gelu", 3.5); }),
            "argument 1 of function 'gelu' must be a tensor, got a number");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("gelu", Tensor()); }),
            "argument 1 of function 'gelu' must be a tensor, got a tensor without memory (null or "
            "freed)");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("gelo", x); }),
            "source 'inline_test' has no function 'gelo'; did you mean 'gelu'?");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("blocks_for", x); }),
            "function 'blocks_for' of source 'inline_test' is not bound; add \"blocks_for\" to "
            "functions");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("gelu", x).number(); }),
            "function 'gelu' returned a tensor, not a number");
}

TEST_P(InlineTorch, VectorAddByPybind) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
__global__ void add_kernel(float* a, float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
torch::Tensor add(torch::Tensor a, torch::Tensor b) {
  assert(a.sizes() == b.sizes());
  auto c = torch::empty_like(a);
  const int n = a.numel(), threads = 128;
  dim3 grid((n + threads - 1) / threads), block(threads);
  add_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                                  c.data_ptr<float>(), n);
  return c;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", &add, "adds two tensors");
  m.def("twice", [](torch::Tensor a) { return add(a, a); });
}
)");
  EXPECT_EQ(m.functions(), (std::vector<std::string>{"add", "twice"}));
  const Tensor a = random({1000}), b = random({1000}, f32, 8);
  const auto x = numbers(a), y = numbers(b);
  std::vector<double> sum, twice;
  for (std::size_t i = 0; i < 1000; ++i) {
    sum.push_back(x[i] + y[i]);
    twice.push_back(2 * x[i]);
  }
  expect_near(m("add", a, b), sum, 1e-6);
  expect_near(m("twice", a), twice, 1e-6);
  EXPECT_EQ(message_of<UserError>([&] { m("add", a, random({3})); }),
            "function 'add' failed: expected a.sizes() == b.sizes() (inline_test.cu:10)");
}

TEST_P(InlineTorch, DispatchOverTypes) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
template <typename scalar_t>
__global__ void scale_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, float s, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<scalar_t>(static_cast<float>(x[i]) * s);
}
torch::Tensor scale(torch::Tensor x, double s) {
  auto y = torch::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "scale", [&] {
    scale_kernel<scalar_t><<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), s, x.numel());
  });
  return y;
}
)",
                              {"scale"});
  for (DType dtype : {f32, f64, f16, bf16}) {
    const Tensor x = random({777}, dtype);
    const Tensor y = m("scale", x, 0.5);
    EXPECT_EQ(y.dtype(), dtype);
    std::vector<double> expected;
    for (double v : numbers(x)) expected.push_back(0.5 * v);
    expect_near(y, expected, 1e-6);
  }
  // Which line of a macro call over several lines is meant differs between compilers.
  const std::string message = message_of<UserError>([&] { m("scale", random({3}).to(i32), 0.5); });
  EXPECT_TRUE(message.starts_with(
      "function 'scale' failed: scale is not implemented for Int (inline_test.cu:1"))
      << message;
}

TEST_P(InlineTorch, AccessorsVectorsAndTuples) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
#include <vector>
template <typename T>
__global__ void transpose_kernel(const torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> in,
                                 torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> out) {
  const int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < in.size(1)) out[c][r] = in[r][c];
}
std::vector<torch::Tensor> transposed(std::vector<torch::Tensor> all) {
  std::vector<torch::Tensor> out;
  for (auto& x : all) {
    auto y = torch::zeros({x.size(1), x.size(0)}, x.options());
    const dim3 grid((x.size(1) + 31) / 32, x.size(0));
    transpose_kernel<float><<<grid, 32>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>(),
                                          y.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
    out.push_back(y);
  }
  return out;
}
std::tuple<torch::Tensor, torch::Tensor> both(torch::Tensor x) { return std::make_tuple(x, x * 2); }
int64_t rank(torch::Tensor x) { return x.dim(); }
double total(torch::Tensor x) { return x.sum().item<double>(); }
std::string describe(const torch::Tensor& x, bool loud, c10::optional<torch::Tensor> other) {
  return std::string(loud ? "LOUD " : "quiet ") + c10::toString(x.scalar_type()) + (other ? " two" : " one");
}
torch::Tensor sizes_of(std::vector<int64_t> sizes, at::IntArrayRef more) {
  return torch::full({sizes[0], more[0]}, 2.5, torch::dtype(torch::kFloat32).device(torch::kCUDA, 0));
}
)",
                              {"transposed", "both", "rank", "total", "describe", "sizes_of"});
  const Tensor x = random({5, 70});
  const std::vector<Tensor> result =
      m("transposed", std::vector<Tensor>{x, x.slice(0, 1, 4)}).tensors();
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(numbers(result[0]), numbers(x.t()));
  EXPECT_EQ(numbers(result[1]), numbers(x.slice(0, 1, 4).t()));
  EXPECT_EQ(numbers(m("both", x).tensors()[1])[3], 2 * numbers(x)[3]);
  EXPECT_EQ(m("rank", x).integer(), 2);
  double sum = 0;
  for (double v : numbers(x)) sum += v;
  EXPECT_NEAR(m("total", x).number(), sum, 1e-4);
  EXPECT_EQ(std::get<std::string>(m("describe", x, true, HostValue{}).value()), "LOUD Float one");
  EXPECT_EQ(std::get<std::string>(m("describe", x, false, x).value()), "quiet Float two");
  const Tensor made = m("sizes_of", std::vector<std::int64_t>{3}, std::vector<std::int64_t>{4});
  EXPECT_EQ(made.shape(), (Shape{3, 4}));
  EXPECT_EQ(numbers(made)[11], 2.5);
  EXPECT_EQ(message_of<ArgumentError>([&] { m("describe", x, std::string("no"), x); }),
            "argument 2 of function 'describe' must be a bool, got a string");
}

TEST_P(InlineTorch, Arithmetic) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
torch::Tensor mix(torch::Tensor a, torch::Tensor b) { return -(a + b) * 2.0 / (1 + a.abs()) - b; }
torch::Tensor normalise(torch::Tensor a) { auto m = a.mean(); a = a.clone(); a -= m; return a.relu().sqrt(); }
)",
                              {"mix", "normalise"});
  const Tensor a = random({3, 50}), b = random({50}, f32, 9);
  const auto x = numbers(a), y = numbers(b);
  std::vector<double> expected, normal;
  double mean = 0;
  for (double v : x) mean += v / 150;
  for (std::size_t i = 0; i < 150; ++i) {
    expected.push_back(-(x[i] + y[i % 50]) * 2 / (1 + std::abs(x[i])) - y[i % 50]);
    normal.push_back(std::sqrt(std::max(0.0, x[i] - mean)));
  }
  expect_near(m("mix", a, b), expected, 1e-5);
  expect_near(m("normalise", a), normal, 1e-3);
}

// The operations are those of tw::.
TEST_P(InlineTorch, ProductsAndRows) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
  return torch::matmul(torch::softmax(q.matmul(k.transpose(0, 1)) * 0.5, -1), v);
}
torch::Tensor rest(torch::Tensor x) { return torch::gelu(x).sum(1, true) + torch::pow(x, 2).maximum(x).mean(0); }
)",
                              {"attention", "rest"});
  const Tensor q = random({5, 4}), k = random({6, 4}, f32, 2), v = random({6, 3}, f32, 3);
  const Tensor weights = softmax(matmul(q, k.t()) * 0.5);
  expect_near(m("attention", q, k, v), numbers(matmul(weights, v)), 1e-5);
  expect_near(m("rest", q), numbers(sum(gelu(q), 1, true) + mean(maximum(square(q), q), 0)), 1e-5);
}

TEST_P(InlineTorch, CudaRuntimeCalls) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
#define CUDA_OK(call) do { cudaError_t e = (call); if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e)); } while (0)
#define LAUNCH(k, n, ...) k<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)
__device__ __forceinline__ int square(int v) { return v * v; }
__global__ void squares(int* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = square(i); }
std::vector<int64_t> run(int n) {
  int* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, n * sizeof(int)));
  CUDA_OK(cudaMemset(memory, 0, n * sizeof(int)));
  LAUNCH(squares, n, memory, n);
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<int> host(n);
  CUDA_OK(cudaMemcpy(host.data(), memory, n * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_OK(cudaFree(memory));
  return std::vector<int64_t>(host.begin(), host.end());
}
void fail(int n) { if (n > 2) throw std::runtime_error("n is " + std::to_string(n)); }
)",
                              {"run", "fail"});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(m("run", 5).value()),
            (std::vector<std::int64_t>{0, 1, 4, 9, 16}));
  EXPECT_EQ(message_of<UserError>([&] { m("fail", 3); }), "function 'fail' failed: n is 3");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(m("fail", 1).value()));
  EXPECT_EQ(message_of<ArgumentError>([&] { m("fail", std::int64_t{1} << 40); }),
            "argument 1 of function 'fail' must be an integer that fits its type, got an integer");
}

TEST_P(InlineTorch, DeducedTemplateArgumentsAndUnnamedParameters) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
namespace ops {
template <typename T, int N> __global__ void repeat(T* out, const T* in, int) { out[threadIdx.x] = in[threadIdx.x / N]; }
template <typename T> __global__ void fill(T* out, T value) { out[threadIdx.x] = value; }
}
torch::Tensor twice(torch::Tensor x) {
  auto y = torch::empty({2 * x.numel()}, x.options());
  ops::repeat<float, 2><<<1, 2 * x.numel()>>>(y.data_ptr<float>(), x.data_ptr<float>(), 0);
  return y;
}
torch::Tensor filled(torch::Tensor x, float value) {
  auto y = torch::empty_like(x);
  ops::fill<<<1, x.numel()>>>(y.data_ptr<float>(), value);
  return y;
}
)",
                              {"twice", "filled"});
  EXPECT_EQ(numbers(m("twice", on_device({1, 2, 3}))), (std::vector<double>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(numbers(m("filled", on_device({1, 2}), 4.5)), (std::vector<double>{4.5, 4.5}));
}

TEST_P(InlineTorch, LaunchErrorsAreThrown) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
__global__ void nothing(float* p) {}
void launch(torch::Tensor x, int threads) { nothing<<<1, threads>>>(x.data_ptr<float>()); C10_CUDA_KERNEL_LAUNCH_CHECK(); }
)",
                              {"launch"});
  const Tensor x = random({4});
  m("launch", x, 1024);
  EXPECT_THROW(m("launch", x, 1025), UserError);
}

TEST(InlineTorchCpp, HostFunctionsWithoutCuda) {
  InlineOptions options;
  options.cpp_sources = {R"(
#include <torch/extension.h>
torch::Tensor add(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(!a.is_cuda(), "a must be on the CPU");
  return a + b;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add", &add, "Add two tensors"); }
)"};
  options.functions = {"add"};
  options.device = Device::cpu();
  const InlineModule m = load_inline(options);
  const Tensor c = m("add", tensor(std::vector<float>{1, 2}, Device::cpu()),
                     tensor(std::vector<float>{3, 4}, Device::cpu()));
  EXPECT_EQ(numbers(c), (std::vector<double>{4, 6}));
  EXPECT_FALSE(m.is_emulated());
}

}  // namespace
}  // namespace tilewright
