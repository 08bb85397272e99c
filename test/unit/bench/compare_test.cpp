// SPDX-License-Identifier: Apache-2.0
// bench/compare_test.cpp — turns over a machine that the test makes up: it drifts, it has noise.
#include "bench/compare.h"

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

// Seconds of a run grow with the shared clock: a machine that becomes slower all the time.
struct Machine {
  double clock = 0;
  double drift = 0;  // per second
  double noise = 0;
  std::mt19937 random{7};
  double slowness() {
    std::uniform_real_distribution<double> factor(1, 1 + noise);
    return (1 + drift * clock) * factor(random);
  }
};

class MadeUp : public Sampler {
 public:
  MadeUp(Machine& machine, double seconds) : machine_(machine), seconds_(seconds) {}
  void sample(int count, std::vector<double>& seconds) override {
    for (int i = 0; i < count; ++i) {
      const double taken = seconds_ * machine_.slowness();
      machine_.clock += taken;
      seconds.push_back(taken);
    }
  }
  double now() override { return machine_.clock; }

 private:
  Machine& machine_;
  double seconds_;
};

Summary ratio_of(Machine machine, double a, double b) {
  MadeUp first(machine, a), second(machine, b);
  const Turns turns = take_turns(first, second, {.max_seconds = 2});
  EXPECT_FALSE(turns.ratios.empty());
  return summarize(turns.ratios);
}

TEST(Turns, FindTheRatio) {
  const Summary ratio = ratio_of({}, 1e-3, 1.2e-3);
  EXPECT_NEAR(ratio.median, 1.2, 1e-9);
}

TEST(Turns, ADriftingMachineDoesNotFoolThem) {
  const Summary ratio = ratio_of({.drift = 1.0}, 1e-3, 1e-3);
  EXPECT_NEAR(ratio.median, 1, 0.002) << "the A before and after B take the drift away";
}

TEST(Turns, NoiseIsNotADifference) {
  int wrong = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Machine machine{.noise = 0.3, .random = std::mt19937(seed)};
    const Summary ratio = ratio_of(machine, 1e-3, 1e-3);
    wrong += ratio.interval.low > 1 || ratio.interval.high < 1;
  }
  EXPECT_LE(wrong, 20) << "the interval is one of 95%";
}

TEST(Turns, ExactTrialsPerTurn) {
  Machine machine;
  MadeUp a(machine, 1), b(machine, 1);
  const Turns turns = take_turns(a, b, {.trials = 2, .max_seconds = 1});
  EXPECT_EQ(turns.ratios.size(), 1u) << "the time is up after one round";
  EXPECT_EQ(turns.a.size(), 4u);
  EXPECT_EQ(turns.b.size(), 2u);
}

}  // namespace
}  // namespace tilewright
