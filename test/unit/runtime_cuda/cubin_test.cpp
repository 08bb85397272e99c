// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/cubin_test.cpp — registers, shared memory, spills and code size are read without a
// GPU.
#include "runtime/cuda/cubin.h"

#include <set>

#include <gtest/gtest.h>

#include "runtime/compile.h"
#include "runtime/cuda/nvrtc_api.h"

namespace tilewright {
namespace {

TEST(Cubin, ReadsTheLog) {
  Binary binary;
  binary.log =
      "k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1tIdEvPT_' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1tIdEvPT_\n"
      "ptxas         .     160 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 2 barriers, 256 bytes smem, 380 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, 368 bytes cmem[0]\n";
  binary.symbols = {{"t<double>", "_Z1tIdEvPT_"}};
  const std::vector<KernelResources> kernels = resources_of(binary);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "t<double>");
  EXPECT_EQ(kernels[0].symbol, "_Z1tIdEvPT_");
  EXPECT_EQ(kernels[0].registers, 255);
  EXPECT_EQ(kernels[0].barriers, 2);
  EXPECT_EQ(kernels[0].shared_bytes, 256u);
  EXPECT_EQ(kernels[0].stack_bytes, 160u);
  EXPECT_EQ(kernels[0].spill_store_bytes, 24u);
  EXPECT_EQ(kernels[0].spill_load_bytes, 32u);
  EXPECT_EQ(kernels[1].name, "k");
  EXPECT_EQ(kernels[1].registers, 8);
  EXPECT_EQ(kernels[1].shared_bytes, 0u);
  EXPECT_EQ(kernels[1].code_bytes, 0u) << "there is no code here";
}

TEST(Cubin, RealKernels) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  KernelSource source;
  source.name = "k.cu";
  source.text = R"(
template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void through_shared(float* x) {
  __shared__ float tile[300];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[299 - threadIdx.x];
}
extern "C" __global__ void indexed(float* x, int n) {
  float a[100];
  for (int i = 0; i < 100; ++i) a[i] = x[i];
  for (int i = 0; i < n; ++i) a[(i * n) % 100] += a[(i + n) % 100];
  x[0] = a[n];
}
)";
  source.name_expressions = {"twice<float>"};
  for (const char* target : {"sm_80", "sm_90a"}) {
    std::set<std::string> seen;
    for (const KernelResources& kernel :
         resources_of(compile_with_nvrtc(source, Target::parse(target)))) {
      EXPECT_GT(kernel.registers, 0);
      EXPECT_EQ(kernel.code_bytes % 16, 0u);
      EXPECT_GE(kernel.code_bytes, 64u);
      EXPECT_EQ(kernel.spill_store_bytes, 0u);
      seen.insert(kernel.name);
      EXPECT_EQ(kernel.shared_bytes, kernel.name == "through_shared" ? 1200u : 0u);
      EXPECT_EQ(kernel.stack_bytes >= 400, kernel.name == "indexed");
    }
    EXPECT_EQ(seen, (std::set<std::string>{"indexed", "through_shared", "twice<float>"})) << target;
  }
}

TEST(Cubin, DamagedFilesAreSurvived) {
  Binary binary;
  binary.log = "ptxas info    : Compiling entry function 'k' for 'sm_90a'";
  for (std::size_t size : {0, 3, 64, 100}) {
    binary.bytes.assign(size, std::byte{0xff});
    if (size >= 4)
      std::copy_n(reinterpret_cast<const std::byte*>("\x7f"
                                                     "ELF"),
                  4, binary.bytes.begin());
    EXPECT_EQ(resources_of(binary).size(), 1u);
  }
}

}  // namespace
}  // namespace tilewright
