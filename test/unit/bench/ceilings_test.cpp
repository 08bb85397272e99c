// SPDX-License-Identifier: Apache-2.0
// bench/ceilings_test.cpp — the measuring kernels do what they claim; how fast is not tested.
#include "bench/ceilings.h"

#include <gtest/gtest.h>

#include "bench/ceiling_kernels.h"
#include "runtime/compile.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Ceilings, CopyOfTheCpu) {
  const Ceiling copy = measure_copy(Device::cpu(), 3 << 20);
  EXPECT_EQ(copy.problem, "");
  EXPECT_GT(copy.per_second, 0);
  EXPECT_DOUBLE_EQ(copy.per_second, 2.0 * (3 << 20) / copy.times.median);
}

TEST(Ceilings, MultiplyAddOfTheCpu) {
  const Ceiling rate = measure_multiply_add(Device::cpu());
  EXPECT_EQ(rate.problem, "");
  EXPECT_GT(rate.per_second, 0);
}

TEST(Ceilings, ProductsOfTheCpu) {
  const Ceiling rate = measure_matrix(Device::cpu(), DType::BFloat16);
  EXPECT_EQ(rate.problem, "");
  EXPECT_GT(rate.per_second, 0);
  EXPECT_EQ(measure_matrix(Device::cpu(), DType::Int8).problem,
            "cpu has no instruction for products of int8");
}

TEST(Ceilings, MatrixInstructionsCompileForEveryGpu) {
  for (const char* name : {"sm_80", "sm_90a"}) {
    const Target target = Target::parse(name);
    for (const DType dtype : matrix_dtypes(target)) {
      try {
        EXPECT_GT(compile(matrix_source(target, dtype), target).bytes.size(), 0U) << name;
      } catch (const MissingError& error) {
        GTEST_SKIP() << error.what();
      }
    }
  }
  EXPECT_TRUE(matrix_dtypes(Target::parse("sm_75")).empty());
}

TEST(Ceilings, Gpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  EXPECT_GT(measure_copy(Device::cuda(), 64 << 20).per_second, 0);
  const Ceiling rate = measure_multiply_add(Device::cuda());
  EXPECT_TRUE(rate.per_second > 0 || !rate.problem.empty());
  for (const DType dtype : matrix_dtypes(Device::cuda().target()))
    EXPECT_GT(measure_matrix(Device::cuda(), dtype).per_second, rate.per_second) << name_of(dtype);
}

}  // namespace
}  // namespace tilewright
