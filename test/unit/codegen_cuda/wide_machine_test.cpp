// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/wide_machine_test.cpp — lanes are a number of the machine: the text for one with
// warps of 64. test/exec/conformance runs the kernels of all families on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../machines/wide_machine.h"
#include "kernel_sources.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::Contains;
using testing::HasSubstr;

TileProgram on_wide_machine(const TileProgram& program, int num_warps = 4) {
  return program.with({.target = wide_machine(), .num_warps = num_warps});
}

TileProgram softmax_of_4096() {
  return {softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32:16, i32:16, 4096"};
}

TEST(WideMachine, ARowIsSummedOverItsLanesAndWarps) {
  const TileProgram narrow = softmax_of_4096(), wide = on_wide_machine(narrow);
  EXPECT_THAT(narrow.text(), HasSubstr("tw::reduce_block<31, 3>"));
  EXPECT_THAT(wide.text(), HasSubstr("tw::reduce_block<63, 3>"));
  EXPECT_THAT(wide.text(), HasSubstr("__launch_bounds__(256)"));
  EXPECT_THAT(narrow.source().options, Contains("-DTW_LANES=32"));
  EXPECT_THAT(wide.source().options, Contains("-DTW_LANES=64"));
  Memory out = zeros(DType::Float32, 4096), x = numbers(DType::Float32, 4096, 3);
  wide.expect_same({.arguments = {&out, &x, 4096, 4096}, .tolerance = 1e-6});
}

TEST(WideMachine, ABlockHasHalfAsManyWarps) {
  try {
    on_wide_machine(softmax_of_4096(), 32);
    ADD_FAILURE() << "2048 threads were taken";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("power of two from 1 to 16"));
  }
}

}  // namespace
}  // namespace tilewright
