// SPDX-License-Identifier: Apache-2.0
// compiler/faults_test.cpp — what is counted in PTX, and what is said of it.
#include "compiler/faults.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* ptx = R"(
.visible .entry other(
)
{
	fma.rn.f64 	%fd1, %fd2, %fd3, %fd4;
}
.visible .entry gelu(
	.param .u64 gelu_param_0
)
{
	.local .align 16 .b8 	__local_depot0[64];
	.reg .f64 	%fd<3>;
	ld.param.u64 	%rd1, [gelu_param_0];
	@%p1 bra 	$L__BB0_2;
	ld.global.f32 	%f1, [%rd4];
	@%p2 ld.global.nc.v4.f32 	{%f2, %f3, %f4, %f5}, [%rd4];
	cvt.f64.f32 	%fd1, %f1;
	@%p1 mul.f64 	%fd2, %fd1, 0d3FE0000000000000;
	cvt.rn.f32.f64 	%f2, %fd2;
	mul.f32 	%f3, %f2, %f2;
	mov.f64 	%fd3, %fd1;
	st.global.f32 	[%rd5], %f3;
}
)";

TEST(Faults, CountsOneKernelOnly) {
  const PtxFacts facts = ptx_facts(ptx, "gelu");
  EXPECT_EQ(facts.float64_arithmetic, 3);
  EXPECT_EQ(facts.float32_arithmetic, 1);
  EXPECT_EQ(facts.narrow_loads, 1);
  EXPECT_EQ(facts.vector_loads, 1);
  EXPECT_EQ(facts.local_bytes, 64u);
  EXPECT_FALSE(facts.has_float64_memory);
  EXPECT_EQ(ptx_facts(ptx, "ge").float64_arithmetic, 0);
}

TEST(Faults, SaysFloat64AndLocalArrays) {
  EXPECT_THAT(faults_in_ptx(ptx_facts(ptx, "gelu"), 0),
              ElementsAre(StartsWith("3 instructions compute in float64 although no memory holds "
                                     "float64"),
                          StartsWith("an array of 64 B per thread lies in memory")));
}

TEST(Faults, SaysNothingOfDoublesInMemory) {
  PtxFacts facts{.float64_arithmetic = 3, .vector_loads = 1, .has_float64_memory = true};
  EXPECT_THAT(faults_in_ptx(facts, 0), IsEmpty());
}

TEST(Faults, SaysSpillsAndNarrowLoads) {
  PtxFacts facts{.float32_arithmetic = 3, .narrow_loads = 2};
  EXPECT_THAT(faults_in_ptx(facts, 16),
              ElementsAre(StartsWith("16 B of registers per thread are spilled"),
                          StartsWith("each of its 2 loads takes one element per thread")));
}

TEST(Faults, SaysTf32) {
  const auto kernel_with = [](const std::string& precision) {
    return ir::parse(
        "kernel @k(%x: f32) source \"k.py\" {\n"
        "  %a = splat %x : f32[16, 16]\n"
        "  %c = dot %a, %a, %a {precision = \"" +
        precision + "\"} : f32[16, 16]\n}\n");
  };
  EXPECT_THAT(faults_in_tiles(kernel_with("tf32")),
              ElementsAre(StartsWith("1 matrix product of float32 rounds the operands to tf32")));
  EXPECT_THAT(faults_in_tiles(kernel_with("ieee")), IsEmpty());
}

TEST(Faults, SaysScatteredAccesses) {
  const auto kernel_with = [](int stride) {
    return ir::parse(
        fmt::format("kernel @k(%x: *f32) tile \"k.py\" {{\n"
                    "  %s = constant {{value = {}}} : i64\n"
                    "  %p = affine %x, %s : *f32[64]\n"
                    "  %v = load %p : f32[64] @7:5\n}}\n",
                    stride));
  };
  EXPECT_THAT(faults_in_tiles(kernel_with(100)),
              ElementsAre(StartsWith("the load in line 7 accesses elements that lie 100 apart")));
  EXPECT_THAT(faults_in_tiles(kernel_with(1)), IsEmpty());
  EXPECT_THAT(faults_in_tiles(kernel_with(4)), IsEmpty()) << "half a sector each";
}

TEST(Faults, WhatTheAssemblerSaysOfProductsIsHandedOn) {
  EXPECT_THAT(
      faults_in_log("k.cu(7): warning #177-D: variable \"x\" was declared but never referenced\n"),
      IsEmpty());
  constexpr const char* log =
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized "
      "due to non wgmma instructions defining accumulator registers of a wgmma between start and "
      "end of "
      "the pipeline stage in function 'k'\nptxas info    : (C7510) Potential Performance Loss: "
      "wgmma.mma_async instructions are serialized due to non wgmma instructions defining "
      "accumulator "
      "registers of a wgmma between start and end of the pipeline stage in function 'k'\n";
  EXPECT_THAT(
      faults_in_log(log),
      ElementsAre("the assembler says: wgmma.mma_async instructions are serialized due to non "
                  "wgmma instructions defining accumulator registers of a wgmma between start "
                  "and end of the pipeline stage"));
}

TEST(Faults, CopiesOfManyBytesAreWideLoads) {
  constexpr const char* copies = R"(
.visible .entry k(
)
{
	ld.global.u32 	%r1, [%rd1];
	cp.async.cg.shared.global [%r1], [%rd2], 16;
}
)";
  EXPECT_EQ(ptx_facts(copies, "k").vector_loads, 1);
  EXPECT_THAT(faults_in_ptx(ptx_facts(copies, "k"), 0), IsEmpty());
}

}  // namespace
}  // namespace tilewright
