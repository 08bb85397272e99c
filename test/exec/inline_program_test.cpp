// SPDX-License-Identifier: Apache-2.0
// exec/inline_program_test.cpp — whole CUDA programs: what they print is tested in
// cli/run_cuda_test; here, their results on every device, and that the text for a GPU compiles
// without one.
#include "load_inline/inline_program.h"
#include "inline_on.h"
#include "runtime/compile.h"

namespace tilewright {
namespace {

class InlineWholeProgram : public InlineOn {
 protected:
  int run(const std::string& text, const std::vector<std::string>& arguments = {}) const {
    return run_program(options(text), arguments);
  }
  InlineOptions options(const std::string& text) const {
    return {.cuda_sources = {text}, .name = "program.cu", .device = device()};
  }
};
TW_INLINE_ON_ALL(InlineWholeProgram);

// As a course has it: error checks by a macro, timers of both sides, constants and counters on the
// device, templates, streams, managed memory. 0 when every number is right.
const char* const course_program = R"(
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <vector>
#define CHECK(call)                          \
  do {                                       \
    const cudaError_t error = call;          \
    if (error != cudaSuccess) exit(__LINE__); \
  } while (0)
const int kShift = 7;
__constant__ float factors[2];
__device__ int counter;
FILE* log_file = nullptr;
struct Timer {
  cudaEvent_t start, stop;
  Timer() { cudaEventCreate(&start); cudaEventCreate(&stop); }
  ~Timer() { cudaEventDestroy(start); cudaEventDestroy(stop); }
  float milliseconds() {
    float time = -1;
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&time, start, stop);
    return time;
  }
};
struct WallTimer {
  struct timeval begin;
  void start() { gettimeofday(&begin, NULL); }
};
struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
template <class Op, int N>
__global__ void combine(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = Op()(a[i], b[i]) * factors[0] + N + kShift;
  atomicAdd(&counter, 1);
}
__global__ void reduce(const float* x, float* out) {
  extern __shared__ float shared[];
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) shared[threadIdx.x] += shared[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = shared[0];
}
int main(int argc, char** argv) {
  if (argc != 2) return 100;
  const int n = atoi(argv[1]);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  if (properties.warpSize != 32 || properties.multiProcessorCount < 1) return 101;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
  float *d_a, *d_b, *d_c;
  const size_t bytes = n * sizeof(float);
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc((void**)&d_b, bytes));
  CHECK(cudaMalloc(&d_c, bytes));
  const float two[2] = {2, 0};
  CHECK(cudaMemcpyToSymbol(factors, two, sizeof two));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyAsync(d_a, a.data(), bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(d_b, b.data(), bytes, cudaMemcpyHostToDevice, stream));
  Timer timer;
  WallTimer wall;
  wall.start();
  cudaEventRecord(timer.start, stream);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, combine<Plus, 1>, 0, 0));
  if (block < 32 || block > 1024 || grid < 1) return 102;
  combine<Plus, 1><<<(n + block - 1) / block, block, 0, stream>>>(d_a, d_b, d_c, n);
  CHECK(cudaGetLastError());
  cudaEventRecord(timer.stop, stream);
  CHECK(cudaMemcpyAsync(c.data(), d_c, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (timer.milliseconds() < 0) return 103;
  for (int i = 0; i < n; ++i)
    if (c[i] != 6.0f * i + 8) return 104;
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  if (count != n) return 105;
  float *managed, *sum;
  CHECK(cudaMallocManaged(&managed, 256 * sizeof(float)));
  CHECK(cudaMallocManaged(&sum, sizeof(float)));
  for (int i = 0; i < 256; ++i) managed[i] = 1;
  reduce<<<1, 256, 256 * sizeof(float)>>>(managed, sum);
  CHECK(cudaDeviceSynchronize());
  if (*sum != 256) return 106;
  void* arguments[] = {&managed, &sum};
  managed[0] = 2;
  CHECK(cudaLaunchKernel((void*)reduce, dim3(1), dim3(256), arguments, 1024, 0));
  CHECK(cudaDeviceSynchronize());
  if (*sum != 257) return 107;
  reduce<<<1, 2048, 8192>>>(managed, sum);
  if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 108;
  if (cudaGetLastError() != cudaSuccess) return 109;
  if (cudaMalloc(&d_a, size_t(1) << 60) != cudaErrorMemoryAllocation) return 110;
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  CHECK(cudaFree(managed));
  CHECK(cudaStreamDestroy(stream));
}
)";

TEST_P(InlineWholeProgram, OfACourse) { EXPECT_EQ(run(course_program, {"1000"}), 0); }

TEST_P(InlineWholeProgram, ResultsOfMainAreTheCallers) {
  EXPECT_EQ(run("int main() { return 3; }"), 3);
  EXPECT_EQ(
      run("int main(int n, const char** words) { return n * 10 + (words[1][0] - '0'); }", {"7"}),
      27);
  EXPECT_EQ(run("#include <stdexcept>\nint main() { throw std::runtime_error(\"no\"); }"), 1);
}

TEST_P(InlineWholeProgram, HostCallbacksAndStreamsThatWait) {
  EXPECT_EQ(run(R"(
#include <atomic>
std::atomic<int> calls{0};
void CUDART_CB count(void* by) { calls += *(int*)by; }
int main() {
  int by = 5;
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreate(&second);
  cudaEvent_t ready;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  cudaLaunchHostFunc(first, count, &by);
  cudaEventRecord(ready, first);
  cudaStreamWaitEvent(second, ready, 0);
  cudaLaunchHostFunc(second, count, &by);
  cudaStreamSynchronize(second);
  return calls;
}
)"),
            10);
}

TEST(InlineWholeProgramEmulated, RefusesWhatAGpuWouldNotNotice) {
  const InlineOptions options{.cuda_sources = {R"(
int main() {
  float host[4] = {}, *device;
  cudaMalloc(&device, 16);
  if (cudaMemcpy(device, host, 17, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 1;
  if (cudaMemcpy(host, host, 16, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 2;
  if (cudaFree(device + 1) != cudaErrorInvalidValue) return 3;
  if (cudaFree(device) != cudaSuccess) return 4;
  if (cudaFree(device) != cudaErrorInvalidValue) return 5;
  if (cudaStreamSynchronize((cudaStream_t)64) != cudaErrorInvalidResourceHandle) return 6;
}
)"},
                              .name = "strict.cu",
                              .device = Device::cpu()};
  EXPECT_EQ(run_program(options, {}), 0);
}

TEST(InlineWholeProgramGpu, ItsTextsCompileWithoutAGpu) {
  const InlineOptions options{.cuda_sources = {course_program}, .name = "program.cu"};
  const InlineProgram program(options, true, true);
  EXPECT_FALSE(compile(program.program_source(), Target::host()).bytes.empty());
  try {
    const Binary binary =
        compile(program.program_kernels({"combine<Plus, 1>", "reduce", "&counter", "&factors"}),
                Target::parse("sm_90a"));
    EXPECT_EQ(binary.symbols.size(), 4u);
  } catch (const MissingError& error) {
    GTEST_SKIP() << error.what();
  }
}

TEST(InlineWholeProgramGpu, ManagedVariablesAreNamed) {
  const InlineOptions options{.cuda_sources = {"__managed__ int shared_by_both;\nint main() {}"},
                              .name = "program.cu"};
  const InlineProgram program(options, true, true);
  EXPECT_EQ(message_of<ArgumentError>([&] { program.program_source(); }),
            "'shared_by_both' of 'program.cu' is a __managed__ variable, which a program run on a "
            "GPU cannot have here; use cudaMallocManaged, or --device emulate");
}

}  // namespace
}  // namespace tilewright
