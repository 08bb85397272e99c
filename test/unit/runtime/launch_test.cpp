// SPDX-License-Identifier: Apache-2.0
// runtime/launch_test.cpp — kernels on the CPU: results for every size of grid, from many threads,
// and failures.
#include <atomic>
#include <thread>

#include "base/settings.h"
#include "cpu_sources.h"
#include "expect_error.h"

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

// Adds 1 to counts[program] and takes the launch's sizes down.
KernelSource count_source() {
  KernelSource source = cpu_source("count.cpp", cpu_kernel_text("count", R"(
  int* counts = *(int**)parameters[0];
  for (unsigned long i = first; i < last; ++i) __atomic_add_fetch(counts + i, 1, __ATOMIC_RELAXED);)") +
                                                    cpu_kernel_text("sizes", R"(
  long* out = *(long**)parameters[0];
  for (int i = 0; i < 3; ++i) { out[i] = launch->grid[i]; out[3 + i] = launch->block[i]; }
  out[6] = launch->shared_bytes;)"));
  source.kernels = {{"count", {pointer("counts", i32)}, {}, {}},
                    {"sizes", {pointer("out", i64)}, {}, {}}};
  return source;
}

TEST(Launch, RunsEveryProgramOnce) {
  const Function count = Module::load(count_source(), Device::cpu()).function("count");
  for (const Dim3 grid :
       {Dim3(1), Dim3(2), Dim3(3, 5, 7), Dim3(1000), Dim3(70001), Dim3(300, 40, 50)}) {
    std::vector<int> counts(static_cast<std::size_t>(grid.count()) + 1);
    count[{.grid = grid}](counts.data());
    EXPECT_EQ(counts.back(), 0);
    counts.pop_back();
    EXPECT_EQ(counts, std::vector<int>(counts.size(), 1)) << grid.count();
  }
}

TEST(Launch, EmptyGridsRunNothing) {
  const Function count = Module::load(count_source(), Device::cpu()).function("count");
  for (const Dim3 grid : {Dim3(0), Dim3(5, 0), Dim3(5, 5, 0)}) count[{.grid = grid}](nullptr);
  expect_error("kernel 'count' takes 1 argument (counts), got 0", [&] { count[{.grid = 0}](); });
}

TEST(Launch, KernelsSeeTheirSizes) {
  const Function sizes = Module::load(count_source(), Device::cpu()).function("sizes");
  long out[7] = {};
  sizes[{.grid = {1, 1, 1}, .block = {32, 4, 2}, .shared_bytes = 4096}](out);
  const long expected[7] = {1, 1, 1, 32, 4, 2, 4096};
  EXPECT_TRUE(std::equal(out, out + 7, expected));
}

TEST(Launch, FromManyThreadsAtOnce) {
  const Function add = Module::load(add_source(), Device::cpu()).function("add");
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (const int n : {1, 300, 40000, 500000}) {
        std::vector<float> a(n, static_cast<float>(t));
        std::vector<float> c(n);
        for (int round = 0; round < 5; ++round)
          add[{.grid = (n + 255) / 256}](a.data(), a.data(), c.data(), n);
        for (const float value : c) ASSERT_EQ(value, static_cast<float>(2 * t));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// Fails in program `bad`, after some work in each, so that threads take part.
KernelSource failing_source() {
  KernelSource source = cpu_source(
      "failing.cpp", "struct Services { unsigned long size; void (*fail)(const char*); };\n" +
                         cpu_kernel_text("failing", R"(
  const long bad = *(long*)parameters[0];
  int* done = *(int**)parameters[1];
  for (unsigned long i = first; i < last; ++i) {
    for (volatile int spin = 0; spin < 2000; spin = spin + 1) {}
    if ((long)i == bad) ((const Services*)launch->services)->fail("index out of range");
    __atomic_add_fetch(done, 1, __ATOMIC_RELAXED);
  })"));
  source.kernels = {{"failing", {scalar("bad", i64), pointer("done", i32)}, {}, {}}};
  return source;
}

TEST(Launch, FailingProgramReachesTheCaller) {
  const Function failing = Module::load(failing_source(), Device::cpu()).function("failing");
  for (const long bad : {0L, 1L, 500L, 999L}) {
    int done = 0;
    expect_error<KernelFault>("kernel 'failing' failed: index out of range",
                              [&] { failing[{.grid = 1000}](bad, &done); });
    EXPECT_LT(done, 1000);
  }
  int done = 0;
  failing[{.grid = 1000}](-1, &done);
  EXPECT_EQ(done, 1000);
}

TEST(Launch, BlockingModeGivesTheSameResults) {
  Settings blocking = settings();
  blocking.launch_blocking = true;
  const SettingsOverride guard(blocking);
  const Function count = Module::load(count_source(), Device::cpu()).function("count");
  int counts[3] = {};
  count[{.grid = 3}](counts);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 3);
}

TEST(Launch, EmptyFunctionIsRefused) {
  expect_error("an empty Function was used; take one from a Module first",
               [] { Function()[{}](); });
  expect_error("an empty Function was used; take one from a Module first",
               [] { Function().name(); });
}

TEST(Launch, QuestionsAboutACpuFunction) {
  const Function add = Module::load(add_source(), Device::cpu()).function("add");
  EXPECT_EQ(add.name(), "add");
  EXPECT_EQ(add.device(), Device::cpu());
  EXPECT_EQ(add.parameters().size(), 4U);
  EXPECT_EQ(add.attributes().max_threads_per_block, 1024);
  EXPECT_EQ(add.blocks_per_processor(256, 0), 1);
  add.set_carveout(50);
  expect_error(
      "a carve-out of 101 percent does not exist; give 0 to 100, or -1 for the driver's choice",
      [&] { add.set_carveout(101); });
  expect_error("blocks of 0 threads do not exist; give 1 or more",
               [&] { add.blocks_per_processor(0, 0); });
}

}  // namespace
}  // namespace tilewright
