// SPDX-License-Identifier: Apache-2.0
// exec/inline_odd_test.cpp — sources that are legal CUDA and unusual: linkage, overloads, order,
// pointers to kernels, faults.
#include <thread>

#include "inline_on.h"

namespace tilewright {
namespace {

class InlineOdd : public InlineOn {};
TW_INLINE_ON_ALL(InlineOdd);

TEST_P(InlineOdd, LinkageAndNamespaces) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
extern "C" { __global__ void with_c_linkage(float* p) { p[0] = 1; } }
extern "C" __global__ void also_c(float* p) { p[1] = 2; }
namespace { __global__ void anonymous(float* p) { p[2] = 3; } }
namespace a { namespace b { static __global__ void nested(float* p) { p[3] = 4; } } }
void run(torch::Tensor x) {
  float* p = x.data_ptr<float>();
  with_c_linkage<<<1, 1>>>(p);
  also_c<<<1, 1>>>(p);
  anonymous<<<1, 1>>>(p);
  a::b::nested<<<1, 1>>>(p);
}
)",
                              {"run"});
  const Tensor x = on_device({0, 0, 0, 0});
  m("run", x);
  EXPECT_EQ(numbers(x), (std::vector<double>{1, 2, 3, 4}));
  const Tensor y = on_device({0, 0, 0, 0});
  for (const char* name : {"with_c_linkage", "also_c", "anonymous", "a::b::nested"})
    m.kernel(name)[{.block = 1}](y);
  EXPECT_EQ(numbers(y), (std::vector<double>{1, 2, 3, 4}));
}

TEST_P(InlineOdd, DefaultsOrderAndPointersToKernels) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
template <typename T> __global__ void later(T* p, T value = T(7));
__global__ void first(float* p, int i, float value = 5.f /* five */);
void run(torch::Tensor x) {
  float* p = x.data_ptr<float>();
  first<<<1, 1>>>(p, 0);
  later<float><<<1, 1>>>(p + 1);
  auto chosen = x.numel() > 100 ? &first : &first;
  chosen<<<1, 1>>>(p, 2, 9.f);
  [&] { first<<<dim3(1), dim3(1)>>>(p, 3, 1.5); }();
}
__global__ void first(float* p, int i, float value) { p[i] = value; }
template <typename T> __global__ void later(T* p, T value) { *p = value; }
)",
                              {"run"});
  const Tensor x = on_device({0, 0, 0, 0});
  m("run", x);
  EXPECT_EQ(numbers(x), (std::vector<double>{5, 7, 9, 1.5}));
}

TEST_P(InlineOdd, SpecialisationsAndPacks) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
template <typename T> __device__ float label() { return 1; }
template <> __device__ float label<double>() { return 2; }
template <typename T, bool negative = false> __global__ void mark(float* p) { *p = negative ? -label<T>() : label<T>(); }
template <typename... T> __global__ void add_all(float* p, T... values) { *p = (float(values) + ...); }
void run(torch::Tensor x) {
  float* p = x.data_ptr<float>();
  mark<float><<<1, 1>>>(p);
  mark<double, true><<<1, 1>>>(p + 1);
  add_all<<<1, 1>>>(p + 2, 1, 2.5f, 3.0);
}
)",
                              {"run"});
  const Tensor x = on_device({0, 0, 0});
  m("run", x);
  EXPECT_EQ(numbers(x), (std::vector<double>{1, -2, 6.5}));
}

TEST_P(InlineOdd, DeviceVariablesAreShared) {
  const InlineModule m = load(R"(
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int calls = 0;
__global__ void lookup(float* p) { p[threadIdx.x] = table[threadIdx.x] + calls; __syncthreads(); if (threadIdx.x == 0) atomicAdd(&calls, 10); }
)");
  const Tensor x = on_device({0, 0, 0, 0});
  m.kernel("lookup")[{.block = 4}](x);
  device().synchronize();
  m.kernel("lookup")[{.block = 4}](x);
  EXPECT_EQ(numbers(x)[0], 11);
}

TEST_P(InlineOdd, SeveralThreadsLoadAndCall) {
  const char* const source = R"(
#include <torch/extension.h>
__global__ void set(int* p, int v) { p[threadIdx.x] = v; }
torch::Tensor make(int v) {
  auto y = torch::empty({4}, torch::dtype(torch::kInt).device(torch::kCUDA));
  set<<<1, 4>>>(y.data_ptr<int>(), v);
  return y;
}
)";
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&, i] { results[static_cast<std::size_t>(i)] = load(source, {"make"})("make", i); });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(numbers(results[static_cast<std::size_t>(i)]),
              std::vector<double>(4, static_cast<double>(i)));
}

TEST_P(InlineOdd, HostTensorsStayOnTheHost) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
int64_t kinds(torch::Tensor x) {
  torch::Tensor host = x.cpu(), made = torch::zeros({3}), back = host.to(x.device());
  TORCH_CHECK(host.is_cpu() && made.device() == torch::kCPU && !made.is_cuda());
  host.data_ptr<float>()[0] = 5;
  return x.is_cuda() * 100 + back.is_cuda() * 10 + (back.sum().item<float>() == 5);
}
)",
                              {"kinds"});
  EXPECT_EQ(m("kinds", on_device({0, 0})).integer(), 110);
}

// Faults end a GPU's context, so they are tried by emulation only.
TEST(InlineFaults, AreNamed) {
  InlineOptions options;
  options.cuda_sources = {R"(
#include <torch/extension.h>
__global__ void checks(int* p) { assert(p[threadIdx.x] == 0); }
void run(torch::Tensor x) { checks<<<1, 1>>>(x.data_ptr<int>()); }
)"};
  options.functions = {"run"};
  options.name = "demo";
  options.device = Device::cpu();
  const InlineModule m = load_inline(options);
  const Tensor x = full({2}, 1, TensorOptions(i32, Device::cpu()));
  EXPECT_EQ(message_of<KernelFault>([&] { m("run", x); }),
            "kernel 'checks', block (0, 0, 0), thread (0, 0, 0): assertion 'p[threadIdx.x] == 0' "
            "failed at demo.cu:3");
  m("run", zeros({2}, TensorOptions(i32, Device::cpu())));
}

}  // namespace
}  // namespace tilewright
