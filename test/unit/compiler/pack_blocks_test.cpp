// SPDX-License-Identifier: Apache-2.0
// compiler/pack_blocks_test.cpp — one more block where nothing is spilled for it, and nowhere else.
#include "compiler/pack_blocks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/parse.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Scales `words` times four numbers per thread by their sum: all of them are kept meanwhile.
KernelSource scale(int words, const char* bounds = "512") {
  KernelSource source;
  source.name = "scale";
  source.text = fmt::format(R"(
extern "C" __global__ void __launch_bounds__({1}) scale(const float4* x, float4* y) {{
  float4 v[{0}];
  float sum = 0;
  #pragma unroll
  for (int i = 0; i < {0}; ++i) v[i] = x[(blockIdx.x * {0} + i) * 512 + threadIdx.x];
  #pragma unroll
  for (int i = 0; i < {0}; ++i) sum += v[i].x * v[i].y + v[i].z * v[i].w;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  #pragma unroll
  for (int i = 0; i < {0}; ++i)
    y[(blockIdx.x * {0} + i) * 512 + threadIdx.x] =
        float4{{v[i].x * sum, v[i].y * sum, v[i].z * sum, v[i].w * sum}};
}}
)",
                            words, bounds);
  LaunchPlan plan = direct_plan("scale", 2);
  plan.steps[0].block[0] = {{PlanOp::Kind::Constant, 512}};
  source.kernels = {{.name = "scale", .parameters = {}, .variants = {plan}}};
  return source;
}

ir::Kernel tiles(const std::string& body) {
  return ir::parse(
      fmt::format("kernel @scale(%begin: i32, %end: i32, %step: i32) tile {{\n{}}}\n", body),
      "scale.tir");
}

const Target target = Target::parse("sm_90a");

KernelResources resources(const KernelSource& source) {
  return resources_of(compile(source, target)).front();
}

TEST(PackBlocks, TakesOneMoreWhereNothingIsSpilled) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const KernelSource source = scale(7);
  ASSERT_EQ(65536 / (resources(source).registers * 512), 2) << resources(source).registers;
  const KernelSource packed = packed_source(tiles(""), source, target);
  EXPECT_THAT(packed.text, HasSubstr("__launch_bounds__(512, 3)"));
  EXPECT_EQ(resources(packed).spill_store_bytes, 0u);
}

TEST(PackBlocks, LeavesWhatWouldSpill) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const KernelSource source = scale(6);
  ASSERT_GT(resources(scale(6, "512, 4")).spill_store_bytes, 0u);
  EXPECT_EQ(packed_source(tiles(""), source, target).text, source.text);
}

TEST(PackBlocks, LeavesNumbersOfBlocksThatWereChosen) {
  const KernelSource source = scale(7, "512, 2");
  EXPECT_EQ(packed_source(tiles(""), source, target).text, source.text);
}

ir::Kernel loop_with(int carried) {
  return tiles(fmt::format(R"(
  %zero = constant {{value = 0.0}} : f32[{0}]
  %sum = for %begin, %end, %step, %zero : f32[{0}] (%i: i32, %part: f32[{0}]) {{
    yield %part
  }}
)",
                           carried));
}

// Loads that are on their way for a sum over a loop want their registers; of a row's sum a thread
// carries a few elements.
TEST(PackBlocks, LeavesLoopsThatCarryLargeTiles) {
  const KernelSource source = scale(7);
  EXPECT_EQ(packed_source(loop_with(8192), source, target).text, source.text);
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  EXPECT_NE(packed_source(loop_with(1024), source, target).text, source.text);
}

}  // namespace
}  // namespace tilewright
