// SPDX-License-Identifier: Apache-2.0
// test/gpu/guest.cpp — a CUDA program of someone else that uses our launches: its own stream, its
// own cudaMalloc memory, its own graph capture, its own threads. Built with the machine's CUDA
// runtime by guest.sh; prints OK.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tilewright/buffer.h"
#include "tilewright/device.h"
#include "tilewright/module.h"

namespace tw = tilewright;

static void check(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "guest.cpp:%d: %s: %s\n", line, call, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

static void expect(bool condition, const char* what, int line) {
  if (condition) return;
  std::fprintf(stderr, "guest.cpp:%d: wrong: %s\n", line, what);
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

static tw::Module load_kernels() {
  tw::KernelSource source;
  source.name = "guest_kernels.cu";
  source.text = R"(
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void count(int* counter) { atomicAdd(counter, 1); }
)";
  using Kind = tw::Parameter::Kind;
  source.kernels.push_back({"axpy",
                            {{.name = "a", .kind = Kind::Scalar, .dtype = tw::DType::Float32},
                             {.name = "x", .kind = Kind::Pointer, .dtype = tw::DType::Float32},
                             {.name = "y", .kind = Kind::Pointer, .dtype = tw::DType::Float32},
                             {.name = "n", .kind = Kind::Scalar, .dtype = tw::DType::Int32}},
                            {},
                            {}});
  source.kernels.push_back(
      {"count", {{.name = "counter", .kind = Kind::Pointer, .dtype = tw::DType::Int32}}, {}, {}});
  return tw::Module::load(source, tw::Device::cuda(0));
}

static constexpr int n = 100003;

// Our launch on their stream and memory, between their own asynchronous copies.
static void plain_launch(const tw::Function& axpy, float* x, float* y, cudaStream_t stream) {
  const std::vector<float> ones(n, 1.0f);
  std::vector<float> result(n);
  CHECK(cudaMemcpyAsync(x, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemsetAsync(y, 0, n * sizeof(float), stream));
  axpy[{.grid = tw::Dim3((n + 255) / 256), .block = 256, .stream = tw::Stream::wrap(stream)}](
      2.0f, x, y, n);
  CHECK(cudaMemcpyAsync(result.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) EXPECT(result[static_cast<std::size_t>(i)] == 2.0f);
}

// Their capture in the strictest mode, with our launches and memory of ours inside; replayed.
static void captured_launches(const tw::Function& axpy, float* x, float* y, cudaStream_t stream) {
  const tw::Stream ours = tw::Stream::wrap(stream);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaMemsetAsync(y, 0, n * sizeof(float), stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  {
    const tw::Buffer scratch =
        tw::Buffer::allocate(n * sizeof(float), tw::Device::cuda(0), tw::MemoryKind::Device, ours);
    auto* const z = static_cast<float*>(scratch.data());
    CHECK(cudaMemcpyAsync(z, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    axpy[{.grid = tw::Dim3((n + 255) / 256), .block = 256, .stream = ours}](1.0f, x, z, n);
    axpy[{.grid = tw::Dim3((n + 255) / 256), .block = 256, .stream = ours}](0.5f, z, y, n);
  }
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 5; ++i) CHECK(cudaGraphLaunch(executable, stream));
  std::vector<float> result(n);
  CHECK(cudaMemcpyAsync(result.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) EXPECT(result[static_cast<std::size_t>(i)] == 5.0f);
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}

static void launches_from_threads(const tw::Function& count) {
  int* counter = nullptr;
  CHECK(cudaMalloc(&counter, sizeof(int)));
  CHECK(cudaMemset(counter, 0, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int i = 0; i < 1000; ++i) count[{.stream = tw::Stream::wrap(stream)}](counter);
      CHECK(cudaStreamSynchronize(stream));
      CHECK(cudaStreamDestroy(stream));
    });
  for (std::thread& thread : threads) thread.join();
  int total = 0;
  CHECK(cudaMemcpy(&total, counter, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(total == 8000);
  CHECK(cudaFree(counter));
}

// Memory of ours used by their calls, in the same address space and context.
static void our_memory_their_calls() {
  const tw::Buffer buffer = tw::Buffer::allocate(1000, tw::Device::cuda(0));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, buffer.data()));
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  EXPECT(attributes.device == 0);
  CHECK(cudaMemset(buffer.data(), 1, 1000));
  CHECK(cudaDeviceSynchronize());
}

int main() {
  try {
    float *x = nullptr, *y = nullptr;
    cudaStream_t stream;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaStreamCreate(&stream));
    const tw::Module module = load_kernels();
    const tw::Function axpy = module.function("axpy");
    plain_launch(axpy, x, y, stream);
    captured_launches(axpy, x, y, stream);
    launches_from_threads(module.function("count"));
    our_memory_their_calls();
    CHECK(cudaGetLastError());
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "guest.cpp: %s\n", error.what());
    return 1;
  }
  std::puts("OK");
}
