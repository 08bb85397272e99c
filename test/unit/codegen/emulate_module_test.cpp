// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_module_test.cpp — an emulated kernel as a module: the run time's compiler, cache
// and thread pool.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "codegen/device_lib/emulate/fibers.h"
#include "codegen/emulate/rewrite.h"
#include "tilewright/error.h"
#include "tilewright/module.h"

namespace tilewright {
namespace {

constexpr const char* cuda_text = R"(
__global__ void gelu(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5 * in[i] * (1.0 + tanh(0.79788456 * (in[i] + 0.044715 * in[i] * in[i] * in[i])));
}
__global__ void block_sums(const int* x, int* sums) {
  __shared__ int tile[128];
  tile[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}
__global__ void stuck(int block) {
  if (blockIdx.x == block && threadIdx.x == 0) return;
  if (blockIdx.x != block || threadIdx.x == 1) __syncwarp();
  else __syncthreads();
}
)";

KernelSource emulated(std::vector<KernelSource::Kernel> kernels) {
  const EmulatedSource device = emulate_cuda(cuda_text, "module.cu");
  KernelSource source;
  source.language = Language::Cpp;
  source.name = "module.cu";
  source.text = emulation_prelude({&device, 1}) + device.text;
  for (const KernelSource::Kernel& kernel : kernels)
    source.text +=
        emulated_entry("tw_" + kernel.name, kernel.name, uses_barriers(device, kernel.name));
  source.options = emulation_options();
  for (KernelSource::Kernel& kernel : kernels)
    kernel.variants = {direct_plan("tw_" + kernel.name, kernel.parameters.size())};
  source.kernels = std::move(kernels);
  return source;
}

Parameter pointer(const char* name, DType dtype) {
  return {.name = name, .kind = Parameter::Kind::Pointer, .dtype = dtype};
}
Parameter integer(const char* name) { return {.name = name, .dtype = DType::Int32}; }

const Module& module() {
  static const Module loaded = Module::load(
      emulated({{.name = "gelu",
                 .parameters = {pointer("in", DType::Float32), pointer("out", DType::Float32),
                                integer("n")}},
                {.name = "block_sums",
                 .parameters = {pointer("x", DType::Int32), pointer("sums", DType::Int32)}},
                {.name = "stuck", .parameters = {integer("block")}}}),
      Device::cpu());
  return loaded;
}

TEST(EmulateModule, GeluOverManyBlocks) {
  const std::size_t n = 100003;
  std::vector<float> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i)
    in[i] = 8.0f * static_cast<float>(i) / static_cast<float>(n) - 4.0f;
  module().function("gelu")[{.grid = (static_cast<int>(n) + 255) / 256, .block = 256}](
      in.data(), out.data(), static_cast<int>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const double x = in[i];
    ASSERT_NEAR(out[i], 0.5 * x * (1.0 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x))), 1e-6);
  }
}

TEST(EmulateModule, BlocksOfFibersOnTheThreadPool) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  std::vector<int> x(128 * 500), sums(500);
  std::iota(x.begin(), x.end(), 0);
  for (int round = 0; round < 3; ++round) {
    std::fill(sums.begin(), sums.end(), -1);
    module().function("block_sums")[{.grid = 500, .block = 128}](x.data(), sums.data());
    for (int b = 0; b < 500; ++b)
      ASSERT_EQ(sums[static_cast<std::size_t>(b)], 128 * (128 * b) + 127 * 64);
  }
}

TEST(EmulateModule, AStuckBlockEndsTheLaunchWithItsName) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "fibers do not run under the thread sanitizer";
  try {
    module().function("stuck")[{.grid = 40, .block = 32}](17);
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "kernel 'stuck', block (17, 0, 0): no thread can advance: thread 0 has ended; "
                 "threads 2-31 wait at __syncthreads "
                 "(line 18); thread 1 waits at __syncwarp (line 17) with mask 0xffffffff; all "
                 "threads that have not ended must reach "
                 "the same barrier");
  }
  module().function("stuck")[{.grid = 40, .block = 32}](-1);
}

TEST(EmulateModule, WithoutFibersTheErrorSaysSo) {
  if (can_emulate_barriers()) GTEST_SKIP() << "this build has fibers";
  const LaunchConfig config{.grid = 1, .block = 32};
  EXPECT_THROW(module().function("stuck")[config](-1), MissingError);
}

}  // namespace
}  // namespace tilewright
