// SPDX-License-Identifier: Apache-2.0
// graph/forget_test.cpp — a compiled function keeps the plans that were called last, and no more.
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "graph/plan/keep.h"
#include "tilewright/compile.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

const Device cpu = Device::cpu();

TEST(ForgottenPlans, TenThousandShapesTakeNoMoreMemory) {
  const auto f = compile([](Tensor x) { return tanh(x) * 2.0 + x; });
  const auto call_all = [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) f(empty({1 + i / 100, 1 + i % 100}, cpu));
  };
  call_all(8000, 10000);  // the large ones first: their memory is kept for the next tensors
  const std::size_t before = mallinfo2().uordblks;
  call_all(0, 8000);
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_EQ(f.stats().traces, 10000u);
  EXPECT_EQ(f.stats().plans, CompileOptions().most_plans);
  EXPECT_LT(after, before + 256 * 1024);  // 8000 plans would be some 20 MB
}

TEST(ForgottenPlans, AreThoseThatWereCalledLongestAgo) {
  const auto f = compile([](Tensor x) { return x + 1.0; }, {.most_plans = 2});
  const auto call = [&](std::int64_t size) { f(zeros({size}, cpu)); };
  for (const std::int64_t size : {2, 3, 2, 4, 2}) call(size);  // 4 takes the place of 3
  EXPECT_EQ(f.stats().traces, 3u);
  EXPECT_EQ(f.stats().plans, 2u);
  call(3);
  EXPECT_EQ(f.stats().traces, 4u);
}

// Another number of operations is another structure.
TEST(ForgottenPlans, StructuresToo) {
  const auto f = compile([](Tensor x, int count) {
    for (int i = 0; i < count; ++i) x = tanh(x);
    return x;
  });
  Tensor last;
  for (int count = 1; count <= static_cast<int>(graph::KeptPlans::most_structures) + 8; ++count)
    last = f(ones({2}, cpu).slice(0, 0, 0), count);
  EXPECT_EQ(last.numel(), 0);
  EXPECT_EQ(f.stats().traces, graph::KeptPlans::most_structures + 8);
}

// Each call forgets the plan of the others, which run it at this time.
TEST(ForgottenPlans, LiveAsLongAsACallRunsThem) {
  for (const Mode mode : {Mode::Default, Mode::ReduceOverhead}) {
    const auto f = compile([](Tensor x) { return std::pair(x * 2.0, softmax(x)); },
                           {.mode = mode, .most_plans = 1});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (std::int64_t i = 0; i < 60; ++i) {
          const Tensor x = full({2 + t, 5}, static_cast<double>(i), cpu);
          const auto [twice, shares] = f(x);
          const bool is_right = twice[t][4].item<float>() == 2.0F * static_cast<float>(i) &&
                                allclose(shares, full({2 + t, 5}, 0.2, cpu));
          if (!is_right) ++wrong;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(f.stats().plans, 1u);
  }
}

}  // namespace
}  // namespace tilewright
