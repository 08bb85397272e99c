// SPDX-License-Identifier: Apache-2.0
// bench/samplers_test.cpp — what is timed and when the device is waited for, with a clock that the
// test moves.
#include "bench/samplers.h"

#include <string>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

struct FakeMachine {
  double clock = 0;
  std::string calls;
  WallSampler::Parts parts(double run_seconds, double wait_seconds, bool may_batch) {
    return {.run =
                [this, run_seconds] {
                  clock += run_seconds;
                  calls += 'r';
                },
            .synchronize =
                [this, wait_seconds] {
                  clock += wait_seconds;
                  calls += 's';
                },
            .now = [this] { return clock; },
            .may_batch = may_batch};
  }
};

TEST(WallSampler, EveryRunIsFollowedByASynchronisation) {
  FakeMachine machine;
  WallSampler sampler(machine.parts(1, 2, true));
  std::vector<double> seconds;
  sampler.sample(3, seconds);
  EXPECT_EQ(machine.calls, "srsrsrs");
  EXPECT_EQ(seconds, (std::vector<double>{3, 3, 3}));
}

TEST(WallSampler, ShortRunsAreTimedTogether) {
  FakeMachine machine;
  WallSampler sampler(machine.parts(3e-6, 0, true));
  sampler.settle(3e-6);
  EXPECT_EQ(sampler.calls_per_sample(), 7);
  std::vector<double> seconds;
  sampler.sample(2, seconds);
  EXPECT_EQ(machine.calls, "srrrrrrrsrrrrrrrs");
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_NEAR(seconds[0], 3e-6, 1e-12);
}

TEST(WallSampler, LongRunsAreNot) {
  FakeMachine machine;
  WallSampler sampler(machine.parts(1, 0, true));
  sampler.settle(20e-6);
  EXPECT_EQ(sampler.calls_per_sample(), 1);
}

TEST(WallSampler, AsynchronousWorkIsNeverTimedTogether) {
  FakeMachine machine;
  WallSampler sampler(machine.parts(1, 0, false));
  sampler.settle(1e-6);
  EXPECT_EQ(sampler.calls_per_sample(), 1);
}

TEST(WallSampler, UnmeasurablyShortRunsAreBounded) {
  FakeMachine machine;
  WallSampler sampler(machine.parts(0, 0, true));
  sampler.settle(0);
  EXPECT_EQ(sampler.calls_per_sample(), 1 << 20);
}

// Events exist on every device, so the queueing is tested here too; 130 repetitions are three lots.
TEST(EventSampler, OneTimeForEveryRepetition) {
  int runs = 0;
  const std::function<void()> run = [&] { ++runs; };
  for (bool flush : {false, true}) {
    EventSampler sampler(run, Device::cpu(), flush);
    std::vector<double> seconds;
    const int count = flush ? 2 : 130;
    runs = 0;
    sampler.sample(count, seconds);
    EXPECT_EQ(runs, count);
    EXPECT_EQ(seconds.size(), static_cast<std::size_t>(count));
    for (double t : seconds) EXPECT_GE(t, 0);
  }
}

TEST(CacheFlush, IsTwiceTheLastCache) {
  const Target& target = Device::cpu().target();
  CacheFlush flush(current_stream(Device::cpu()));
  EXPECT_GE(flush.bytes(),
            static_cast<std::size_t>(2 * std::max(target.l2_bytes, target.l3_bytes)));
  flush.run();
}

}  // namespace
}  // namespace tilewright
