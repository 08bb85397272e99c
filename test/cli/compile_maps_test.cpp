// SPDX-License-Identifier: Apache-2.0
// cli/compile_maps_test.cpp — `tilewright compile` of a kernel with roles: what it says of the
// product, and a launcher that makes the tensor maps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../unit/codegen_cuda/kernel_sources.h"
#include "bench/json.h"
#include "command.h"
#include "runtime/components.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

// Keeps what the launcher made: the sizes, strides and box of each map, the blocks and threads.
constexpr const char* fake_driver_with_maps = R"(
#pragma once
#include <cstdint>
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16 };
enum CUtensorMapDataType { CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6 };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B = 3 };
enum { CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };
typedef std::uint64_t cuuint64_t;
typedef std::uint32_t cuuint32_t;
struct CUtensorMap { cuuint64_t opaque[16]; };
typedef int CUdevice;
typedef struct CUstream_st* CUstream;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
inline std::uint64_t made[3][6];
inline int maps, blocks, threads, programs;
inline const void* first_map;
inline CUresult cuModuleLoadData(CUmodule*, const void*) { return CUDA_SUCCESS; }
inline CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) { return CUDA_SUCCESS; }
inline CUresult cuFuncSetAttribute(CUfunction, int, int) { return CUDA_SUCCESS; }
inline CUresult cuCtxGetDevice(CUdevice* device) { *device = 0; return CUDA_SUCCESS; }
inline CUresult cuDeviceGetAttribute(int* value, int, CUdevice) { *value = 100; return CUDA_SUCCESS; }
inline CUresult cuDriverGetVersion(int* version) { *version = 13000; return CUDA_SUCCESS; }
inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void*,
                                       const cuuint64_t* sizes, const cuuint64_t* strides,
                                       const cuuint32_t* box, const cuuint32_t*, int,
                                       CUtensorMapSwizzle swizzle, int, int) {
  map->opaque[1] = ~std::uint64_t{0};
  const std::uint64_t values[6] = {sizes[0], sizes[1], strides[0], box[0], box[1], std::uint64_t(swizzle)};
  if (rank != 2 || maps == 3) return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < 6; ++i) made[maps][i] = values[i];
  ++maps;
  return CUDA_SUCCESS;
}
inline CUresult cuLaunchKernel(CUfunction, unsigned x, unsigned, unsigned, unsigned block, unsigned,
                               unsigned, unsigned, CUstream, void** arguments, void**) {
  blocks = int(x);
  threads = int(block);
  first_map = arguments[6];
  programs = *static_cast<int*>(arguments[9]);
  // Both tensors are small: the driver's wrong bit is gone.
  const bool is_corrected = static_cast<const CUtensorMap*>(first_map)->opaque[1] == ~(std::uint64_t{1} << 21);
  return is_corrected ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
)";
constexpr const char* product_program = R"(
#include "product_sm_90a.h"
int main() {
  alignas(16) static char a[16], b[16], c[16];
  if (sm_90a::product(nullptr, {200}, a, b, c, 160, 512, 64) != CUDA_SUCCESS) return 1;
  const std::uint64_t want[2][6] = {{64, 160, 128, 64, 128, 3}, {512, 64, 1024, 64, 64, 3}};
  if (made[2][0] != 512 || made[2][1] != 160 || made[2][2] != 1024) return 30;  // the result
  for (int map = 0; map < 2; ++map)
    for (int i = 0; i < 6; ++i)
      if (made[map][i] != want[map][i]) return 10 + 10 * map + i;
  if (blocks != 100 || threads != 384 || programs != 200) return 2;
  maps = 0;  // nothing to multiply: maps of one element, which nobody copies from
  if (sm_90a::product(nullptr, {1}, a, b, c, 16, 16, 0) != CUDA_SUCCESS) return 3;
  return made[0][0] == 1 && made[1][1] == 1 ? 0 : 4;
}
)";

class CompileMaps : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const ComponentStatus& component : cuda_components())
      if (component.name == "NVRTC" && component.is_usable()) {
        std::ofstream(folder_.path() + "/k.py") << "import triton\nimport triton.language as tl\n"
                                                << masked_product_source;
        return;
      }
    GTEST_SKIP() << "NVRTC is not here";
  }
  CommandResult compile(std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "compile",     folder_.path() + "/k.py:product",
        "--signature", "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 128, 256, 64",
        "--target",    "sm_90a",
        "--num-warps", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tilewright_command(arguments, {"TILEWRIGHT_EXTRA_PASSES=split_roles"});
  }

  TemporaryFolder folder_;
};

TEST_F(CompileMaps, TheHeaderMakesTensorMaps) {
  const std::string out = folder_.path();
  const CommandResult r = compile({"--emit", "header", "-o", out});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  std::ofstream(out + "/cuda.h") << fake_driver_with_maps;
  std::ofstream(out + "/main.cpp") << product_program;
  const ProcessResult built =
      run_process({.arguments = {"c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", out,
                                 out + "/main.cpp", "-o", out + "/main"}});
  ASSERT_EQ(built.exit_code, 0) << built.output;
  EXPECT_EQ(run_process({.arguments = {out + "/main"}}).exit_code, 0);
}

TEST_F(CompileMaps, TheReportSaysHowTheProductIsMade) {
  const CommandResult r = compile({});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("  product        line 15: f16[128, 64] x f16[64, 256] by wgmma, "
                                  "from 4 slots of 48.0 KiB\n"));
  EXPECT_THAT(r.output,
              HasSubstr("  roles          4 warps copy by tensor maps with 40 registers a "
                        "thread, 8 multiply with 232; a block per multiprocessor takes "
                        "one program after the other\n"));
  EXPECT_THAT(r.output, HasSubstr("  elements       128 per thread in the largest tile\n"));
  const auto json = parse_json(compile({"--json"}).output)["compiled"][0];
  EXPECT_EQ(json["products"].size(), 1u);
  EXPECT_EQ(json["programs_per_block"], 1);
}

// The sums are changed while products go on.
TEST_F(CompileMaps, ProductsThatWaitForEachOtherAreTold) {
  const std::string cu = folder_.path() + "/k.cu";
  std::ofstream(cu) << R"(
__global__ void waits(float* out, unsigned long long a, unsigned long long b) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;");
  for (int i = 0; i < 4; ++i) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;");
    d[0] += out[i];
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;");
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
)";
  const CommandResult r = tilewright_command({"compile", cu + ":waits", "--target", "sm_90a"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output,
              HasSubstr("  look at        the assembler says: wgmma.mma_async instructions are "
                        "serialized due to "));
}

}  // namespace
}  // namespace tilewright::cli
