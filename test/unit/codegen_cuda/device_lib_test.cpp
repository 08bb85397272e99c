// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/device_lib_test.cpp — NVRTC takes the parts of the device library with inline PTX.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"

namespace tilewright {
namespace {

TEST(DeviceLib, AsynchronousCopies) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  KernelSource source;
  source.language = Language::Cuda;
  source.name = "copies";
  source.options = {"--std=c++17"};
  for (const char* part : {"ptx", "types", "async_copy"})
    source.text += embedded_file(fmt::format("device_lib/cuda/{}.cuh", part));
  source.text += R"(
extern "C" __global__ void copies(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[3][512];
  const int t = threadIdx.x;
  tw::copy_async<4>(&tile[0][t], in + t, t < n);
  tw::copy_async<8>(&tile[1][2 * t], in + 2 * t, 2 * t < n);
  tw::copy_async<16>(&tile[2][4 * t], in + 4 * t, 4 * t < n);
  tw::commit_copies();
  tw::copy_async<8>(&tile[1][2 * t + 256], in + 2 * t);
  tw::copy_async<16>(&tile[2][4 * t], in + 4 * t);
  tw::commit_copies();
  tw::wait_copies<1>();
  __syncthreads();
  out[t] = tile[0][n - t];
  tw::wait_copies<0>();
  __syncthreads();
  out[t + 128] = tile[1][t] + tile[2][t + 1];
})";
  source.kernels.push_back({.name = "copies"});
  source.kernels.back().variants.push_back(direct_plan("copies", 3));
  for (const char* target : {"sm_80", "sm_90a"}) {
    const auto resources = resources_of(compile(source, Target::parse(target)));
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].spill_store_bytes, 0u);
    EXPECT_EQ(resources[0].shared_bytes, 3 * 2048u);
  }
}

}  // namespace
}  // namespace tilewright
