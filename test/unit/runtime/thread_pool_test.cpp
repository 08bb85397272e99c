// SPDX-License-Identifier: Apache-2.0
// runtime/thread_pool_test.cpp — ranges cover the work once, failures stop it, nesting does not
// block.
#include "runtime/cpu/thread_pool.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(ThreadPool, RangesCoverTheWorkOnce) {
  for (const std::uint64_t count : {0UL, 1UL, 2UL, 17UL, 1000UL, 100003UL})
    for (const std::uint64_t grain : {0UL, 1UL, 7UL, 1000UL}) {
      std::vector<int> seen(count);
      parallel_ranges(count, grain, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t i = first; i < last; ++i) ++seen[i];
      });
      EXPECT_EQ(seen, std::vector<int>(count, 1)) << count << " by " << grain;
    }
}

TEST(ThreadPool, ResultsAreVisibleToTheCaller) {
  std::vector<long> values(1000);
  for (long round = 1; round <= 50; ++round) {
    parallel_ranges(values.size(), 1, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i) values[i] += round;
    });
    EXPECT_EQ(values.front() + values.back(), round * (round + 1));
  }
}

TEST(ThreadPool, TheFirstExceptionIsThrownOnce) {
  std::atomic<int> thrown = 0;
  for (int round = 0; round < 20; ++round) {
    try {
      parallel_ranges(1000, 1, [](std::uint64_t first, std::uint64_t) {
        throw std::runtime_error("range " + std::to_string(first));
      });
    } catch (const std::runtime_error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("range "));
      ++thrown;
    }
  }
  EXPECT_EQ(thrown, 20);
}

TEST(ThreadPool, NestedCallsRunOnTheirCaller) {
  std::atomic<int> total = 0;
  std::atomic<int> elsewhere = 0;
  parallel_ranges(8, 1, [&](std::uint64_t, std::uint64_t) {
    const std::thread::id self = std::this_thread::get_id();
    parallel_ranges(100, 1, [&](std::uint64_t first, std::uint64_t last) {
      if (std::this_thread::get_id() != self) ++elsewhere;
      total += static_cast<int>(last - first);
    });
  });
  EXPECT_EQ(elsewhere, 0);
  EXPECT_GE(total, 100);
}

TEST(ThreadPool, ProgramsRunOnceWhateverTheyCost) {
  ProgramCost cost = 0;  // remembered from one to the next, as a kernel's is
  for (const int spins : {0, 20000, 100})
    for (const std::uint64_t count : {0UL, 1UL, 2UL, 100UL, 3000UL}) {
      if (spins == 20000 && count == 3000) continue;
      std::vector<int> seen(count);
      run_programs(count, cost, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t i = first; i < last; ++i) {
          std::atomic<int> spin = 0;
          while (spin < spins) ++spin;
          ++seen[i];
        }
      });
      EXPECT_EQ(seen, std::vector<int>(count, 1)) << count << " of " << spins;
    }
}

TEST(ThreadPool, ExpensiveProgramsShareTheThreadsFromTheFirst) {
  if (pool_threads() < 2) GTEST_SKIP() << "this machine has one core";
  // Two programs that wait for each other: possible only when both run at once.
  ProgramCost cost = 1.0F;
  std::atomic<int> arrived = 0;
  run_programs(2, cost, [&](std::uint64_t, std::uint64_t) {
    ++arrived;
    for (int i = 0; i < 2000 && arrived < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(arrived, 2);
  });
  EXPECT_LT(cost.load(), 20.0F);
}

}  // namespace
}  // namespace tilewright
