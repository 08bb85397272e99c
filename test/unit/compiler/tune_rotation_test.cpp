// SPDX-License-Identifier: Apache-2.0
// unit/compiler/tune_rotation_test.cpp — who is dropped, who wins and when it ends, with made-up
// times.
#include "compiler/tune/rotation.h"

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

// Candidate i takes seconds[i], give or take a little; the clock advances by what is run.
class FakeTurns : public Turns {
 public:
  explicit FakeTurns(std::vector<double> seconds) : seconds_(std::move(seconds)) {}

  void take(std::size_t i, int count, std::vector<double>& seconds) override {
    order.push_back(i);
    if (i == fails) throw ArgumentError("it asserts");
    if (i == lacks_memory) throw OutOfMemory("cpu", 10, 5);
    for (int run = 0; run < count; ++run) {
      const double jitter = 1 + 0.01 * static_cast<double>(runs_++ % 5);
      seconds.push_back(seconds_[i] * jitter);
      now_ += seconds_[i] * jitter;
    }
  }
  double now() override { return now_; }
  bool is_over(std::size_t) override { return order.size() >= stop_after; }

  std::vector<std::size_t> order;  // of turns, warm-ups too
  std::size_t stop_after = 1000000;
  std::size_t fails = 1000;
  std::size_t lacks_memory = 1000;

 private:
  std::vector<double> seconds_;
  double now_ = 0;
  int runs_ = 0;
};

std::vector<Candidate> rotated(FakeTurns& turns, std::size_t count,
                               const RotationOptions& options = {.seconds = 10}) {
  std::vector<Candidate> candidates(count);
  rotate(candidates, turns, options);
  return candidates;
}

TEST(TuneRotation, TheSlowAreDroppedAndTheFastestWins) {
  FakeTurns turns({2e-3, 1e-3, 1.05e-3, 9e-3, 1.2e-3});
  const auto candidates = rotated(turns, 5);
  EXPECT_EQ(fastest(candidates), 1);
  EXPECT_TRUE(candidates[0].is_out);
  EXPECT_FALSE(candidates[1].is_out);
  EXPECT_FALSE(candidates[2].is_out);
  EXPECT_TRUE(candidates[3].is_out);
  EXPECT_TRUE(candidates[4].is_out);
  // Nine times slower: one turn was enough. Twice: two. A fifth: three.
  EXPECT_EQ(candidates[3].samples.size(), 1u);
  EXPECT_LT(candidates[0].samples.size(), candidates[4].samples.size());
  EXPECT_LT(candidates[4].samples.size(), candidates[2].samples.size());
}

TEST(TuneRotation, EachRoundBeginsWithAnother) {
  FakeTurns turns({1e-3, 1e-3, 1e-3});
  rotated(turns, 3, {.min_rounds = 3, .max_rounds = 3, .seconds = 10});
  const std::vector<std::size_t> order = {0, 0, 1, 1, 2, 2, 1, 2, 0, 2, 0, 1};
  EXPECT_EQ(turns.order, order);
}

TEST(TuneRotation, ShortRunsAreRepeatedWithinATurn) {
  FakeTurns turns({1e-5, 1e-3});
  std::vector<Candidate> candidates(2);
  rotate(candidates, turns, {.max_rounds = 1, .seconds = 10, .turn_seconds = 0.004});
  EXPECT_EQ(candidates[0].samples.size(), 40u);  // at most
  EXPECT_EQ(candidates[1].samples.size(), 3u);   // 4 ms hold three of 1 ms and a little
}

TEST(TuneRotation, AFailingCandidateLeavesWithItsReason) {
  FakeTurns turns({1e-3, 1e-3, 2e-3});
  turns.fails = 0;
  turns.lacks_memory = 1;
  const auto candidates = rotated(turns, 3);
  EXPECT_EQ(candidates[0].problem, "it asserts");
  EXPECT_TRUE(candidates[0].samples.empty());
  EXPECT_NE(candidates[1].problem.find("memory"), std::string::npos) << candidates[1].problem;
  EXPECT_EQ(fastest(candidates), 2);
}

TEST(TuneRotation, NobodyIsFastestWhenAllFail) {
  FakeTurns turns({1e-3});
  turns.fails = 0;
  EXPECT_EQ(fastest(rotated(turns, 1)), -1);
}

TEST(TuneRotation, AnInterruptKeepsWhatWasMeasured) {
  FakeTurns turns({1e-3, 1e-3, 1e-3});
  turns.stop_after = 4;
  const auto candidates = rotated(turns, 3);
  EXPECT_FALSE(candidates[0].samples.empty());
  EXPECT_FALSE(candidates[1].samples.empty());
  EXPECT_TRUE(candidates[2].samples.empty());
}

TEST(TuneRotation, TimeEndsItAfterOneRound) {
  FakeTurns turns({1, 1.1, 1.05});
  const auto candidates = rotated(turns, 3, {.seconds = 0.5});
  for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.samples.size(), 1u);
}

TEST(TuneRotation, ALongFirstRunThatIsHopelessHasNoSecond) {
  FakeTurns turns({0.1, 10});
  const auto candidates = rotated(turns, 2, {.seconds = 0.5});
  EXPECT_EQ(turns.order, (std::vector<std::size_t>{0, 0, 1}));
  EXPECT_TRUE(candidates[1].is_out);
  EXPECT_EQ(fastest(candidates), 0);
}

TEST(TuneRotation, ThoseThatAreOutBeforeAreLeftAlone) {
  FakeTurns turns({1e-3, 1e-3});
  std::vector<Candidate> candidates(2);
  candidates[0].is_out = true;
  rotate(candidates, turns, {.seconds = 10});
  EXPECT_TRUE(candidates[0].samples.empty());
  EXPECT_EQ(fastest(candidates), 1);
}

TEST(TuneRotation, ATimingIsAMedianWithItsSpread) {
  const Timing timing = timing_of({3, 1, 2, 5, 4});
  EXPECT_EQ(timing.median, 3);
  EXPECT_NEAR(timing.low, 1.4, 1e-12);
  EXPECT_NEAR(timing.high, 4.6, 1e-12);
  EXPECT_EQ(timing.samples, 5);
}

}  // namespace
}  // namespace tilewright
