// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/fuzz_test.cpp — random kernels: interpreter against compiled code.
#include <gtest/gtest.h>

#include "../../fuzz/random_kernel.h"
#include "ir/print.h"
#include "passes/passes.h"
#include "run_both.h"

namespace tilewright::testing_cpu {
namespace {

TEST(CpuFuzz, RandomKernelsComputeWhatTheInterpreterComputes) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    ir::Kernel kernel = fuzz::Generator(seed).make();
    // Every other one as it is, the others as the pipeline gives them.
    if (seed % 2)
      for (const PassEntry& pass : all_passes()) pass.run(kernel, Target::host());
    const std::size_t count = fuzz::outputs * fuzz::tile_size;
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << ir::print(kernel));
    run_both(kernel,
             {Memory::of(i32, std::vector<std::int32_t>(count, 3)),
              Memory::of(f32, std::vector<float>(count, 0.25f)), std::int64_t{5}},
             {2, 1, 1}, {.ulps = 4});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright::testing_cpu
