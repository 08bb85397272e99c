// SPDX-License-Identifier: Apache-2.0
// numba/numba_kernels_test.cpp — kernels of a dozen kinds give what Numba's simulator gives: as
// loops where threads do not need each other, else in checked emulation; on a GPU where there is
// one; and all their texts compile for sm_90a.
#include <gtest/gtest.h>

#include "compiler/numba/numba_state.h"
#include "numba_cases.h"
#include "runtime/compile.h"
#include "runtime/cuda/nvrtc_api.h"

namespace tilewright {
namespace {

constexpr const char* kinds[] = {"elementwise", "dimensions", "arithmetic", "functions", "control",
                                 "device",      "shared",     "atomics",    "views",     "typed",
                                 "halves",      "constants",  "complexes"};

class NumbaKernels : public testing::TestWithParam<const char*> {};

TEST_P(NumbaKernels, GiveWhatTheSimulatorGives) {
  for (const NumbaCase& each : numba_cases(GetParam()))
    expect_as_simulated(each, Device::cpu(), false);
}

// Takes the compiler half a minute for all of them: loops are checked as such above.
TEST_P(NumbaKernels, DISABLED_GiveItEmulatedWithoutAFinding) {
  for (const NumbaCase& each : numba_cases(GetParam()))
    expect_as_simulated(each, Device::cpu(), true);
}

TEST_P(NumbaKernels, GiveItOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU";
  for (const NumbaCase& each : numba_cases(GetParam())) {
    bool is_contiguous = true;
    for (const NumbaCaseArgument& argument : each.arguments)
      is_contiguous &= argument.is_contiguous();
    if (is_contiguous) expect_as_simulated(each, Device::cuda(), false);
  }
}

TEST_P(NumbaKernels, CompileForAGpu) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const Target target = Target::parse("sm_90a");
  for (const NumbaCase& each : numba_cases(GetParam())) {
    SCOPED_TRACE(each.name());
    const NumbaKernel kernel = load_numba(each.path(), each.kernel);
    try {
      compile(numba_source(*kernel.state(), each.types(), NumbaPlace::Gpu)->source, target);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, NumbaKernels, testing::ValuesIn(kinds),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(NumbaTable, HasTheNotesKernelAndManyMore) {
  const std::vector<NumbaCase> all = numba_cases("");
  EXPECT_GE(all.size(), 120u);
  EXPECT_EQ(all.front().name(), "elementwise:numba_square");
}

}  // namespace
}  // namespace tilewright
