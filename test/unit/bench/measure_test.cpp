// SPDX-License-Identifier: Apache-2.0
// bench/measure_test.cpp — the warm-up and stopping rules, with times and a clock made up by the
// test.
#include "bench/measure.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

// Repetition i takes time(i) seconds of a clock that nothing else moves.
class FakeSampler : public Sampler {
 public:
  explicit FakeSampler(std::function<double(int)> time) : time_(std::move(time)) {}
  void sample(int count, std::vector<double>& seconds) override {
    for (int i = 0; i < count; ++i) {
      const double t = time_(repetitions_++);
      clock_ += t;
      seconds.push_back(t);
    }
  }
  void settle(double typical_seconds) override { settled_ = typical_seconds; }
  double now() override { return clock_; }

  int repetitions_ = 0;
  double settled_ = -1;

 private:
  std::function<double(int)> time_;
  double clock_ = 100;
};

TEST(Measure, ExactCountsAreExact) {
  FakeSampler sampler([](int i) { return 1.0 + i; });
  const Measurement m = measure(sampler, {.warmups = 1, .trials = 3});
  EXPECT_EQ(m.samples, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(m.warmups, 1);
  EXPECT_FALSE(m.is_stable);
  EXPECT_EQ(sampler.repetitions_, 4);
  EXPECT_EQ(sampler.settled_, -1) << "exact trials are timed one by one";
}

TEST(Measure, NoWarmUpWhenNoneIsAskedFor) {
  FakeSampler sampler([](int) { return 1.0; });
  const Measurement m = measure(sampler, {.warmups = 0, .trials = 1});
  EXPECT_EQ(m.warmups, 0);
  EXPECT_EQ(sampler.repetitions_, 1);
}

TEST(Measure, SteadyTimesStopSoonAfterTheShortestTime) {
  FakeSampler sampler([](int) { return 1e-3; });
  const Measurement m = measure(sampler, {});
  EXPECT_TRUE(m.is_stable);
  EXPECT_GE(m.samples.size(), 99u);
  EXPECT_LE(m.samples.size(), 120u);
  EXPECT_GE(m.warmups, 20);  // a fifth of the shortest time
  EXPECT_LE(m.warmups, 40);
  EXPECT_EQ(sampler.settled_, 1e-3);
}

TEST(Measure, WarmUpWaitsUntilTimesStopFalling) {
  // A slow first call, then times that halve over 100 repetitions.
  const auto time = [](int i) { return i == 0 ? 0.1 : i < 100 ? 1e-3 * (2 - i / 100.0) : 1e-3; };
  FakeSampler sampler(time);
  const Measurement m = measure(sampler, {});
  EXPECT_GE(m.warmups, 90);
  EXPECT_TRUE(m.is_stable);
  for (double t : m.samples) ASSERT_LE(t, 1.1e-3);
}

TEST(Measure, WarmUpOfNeverSteadyTimesIsBounded) {
  FakeSampler sampler([](int i) { return i / 5 % 2 == 0 ? 1e-3 : 3e-3; });
  const Measurement m = measure(sampler, {.max_seconds = 0.4});
  EXPECT_LE(m.warmups, 110);
  EXPECT_FALSE(m.is_stable);
}

TEST(Measure, NoiseNeedsMoreSamples) {
  unsigned state = 1;
  const auto noise = [&](int) {
    state = state * 1664525u + 1013904223u;
    return 1e-3 * (1 + 0.2 * (state >> 8) / double(1 << 24));
  };
  FakeSampler coarse(noise);
  FakeSampler fine(noise);
  const Measurement a =
      measure(coarse, {.relative_interval = 0.05, .min_seconds = 0.01, .max_seconds = 100});
  const Measurement b =
      measure(fine, {.relative_interval = 0.01, .min_seconds = 0.01, .max_seconds = 100});
  EXPECT_TRUE(a.is_stable);
  EXPECT_TRUE(b.is_stable);
  EXPECT_GT(b.samples.size(), 3 * a.samples.size());
}

TEST(Measure, TimeLimitEndsAndSaysSo) {
  FakeSampler sampler([](int i) { return i % 2 == 0 ? 1e-3 : 2e-3; });
  const Measurement m = measure(sampler, {.min_seconds = 0.05, .max_seconds = 0.5});
  EXPECT_FALSE(m.is_stable);
  double sum = 0;
  for (double t : m.samples) sum += t;
  EXPECT_GE(sum, 0.5);
  EXPECT_LE(sum, 0.6);
}

TEST(Measure, VerySlowRunIsTimedOnce) {
  FakeSampler sampler([](int) { return 60.0; });
  const Measurement m = measure(sampler, {});
  EXPECT_EQ(m.warmups, 1);
  EXPECT_EQ(m.samples.size(), 1u);
  EXPECT_FALSE(m.is_stable);
}

TEST(Measure, ClockThatDoesNotMoveStillEnds) {
  FakeSampler sampler([](int) { return 0.0; });
  const Measurement m = measure(sampler, {});
  EXPECT_GE(m.samples.size(), 1000u);
  EXPECT_LE(m.samples.size(), 200000u);
}

TEST(Measure, WrongOptionsAreNamed) {
  const auto message = [](const BenchOptions& options) -> std::string {
    try {
      check_options(options);
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({}), "accepted");
  EXPECT_EQ(message({.warmups = -1}), "benchmark option warmups must be 0 or more, got -1");
  EXPECT_EQ(message({.trials = 0}), "benchmark option trials must be 1 or more, got 0");
  EXPECT_EQ(message({.relative_interval = 0}),
            "benchmark option relative_interval must be positive, got 0");
  EXPECT_EQ(message({.min_seconds = -1}), "benchmark option min_seconds must be 0 or more, got -1");
  EXPECT_EQ(message({.max_seconds = std::numeric_limits<double>::quiet_NaN()}),
            "benchmark option max_seconds must be positive, got nan");
}

}  // namespace
}  // namespace tilewright
