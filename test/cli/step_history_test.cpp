// SPDX-License-Identifier: Apache-2.0
// cli/step_history_test.cpp — which checkpoints of a stepped program are kept.
#include "cli/step_history.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace tilewright::cli {
namespace {

// One of a program at this time, whose values have about 80 kB.
StepMark mark_at(std::int64_t time) {
  StepMark mark;
  mark.place.time = time;
  mark.program.values.push_back({{}, std::vector<ir::Element>(10'000)});
  return mark;
}

// Until it is: a machine may be busy, and checkpoints then take longer.
void keep_at(StepHistory& history, std::int64_t time) {
  for (bool is_kept = false; !is_kept;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    history.keep([&] {
      is_kept = true;
      return mark_at(time);
    });
  }
}

TEST(StepHistory, GivesTheLastCheckpointBeforeATime) {
  StepHistory history({.spacing = std::chrono::milliseconds(0)});
  for (const std::int64_t time : {10, 20, 30, 40}) keep_at(history, time);
  EXPECT_EQ(history.size(), 4u);
  EXPECT_EQ(history.last_until(35)->place.time, 30);
  EXPECT_EQ(history.last_until(30)->place.time, 20);  // the op of time 30 was before it
  EXPECT_EQ(history.size(), 2u);
  EXPECT_EQ(history.last_until(10), nullptr);
}

TEST(StepHistory, WaitingIsNoComputing) {
  StepHistory history({.spacing = std::chrono::milliseconds(200)});
  history.clear();
  history.pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  history.go_on();
  history.keep([]() -> StepMark { throw std::runtime_error("nothing was computed"); });
}

TEST(StepHistory, OldCheckpointsGoWhenMemoryIsFull) {
  StepHistory history({.bytes = 800'000, .spacing = std::chrono::milliseconds(0)});
  for (std::int64_t time = 1; time <= 40; ++time) keep_at(history, time * 100);
  EXPECT_LE(history.size(), 10u);
  EXPECT_GE(history.size(), 8u);
  EXPECT_EQ(history.last_until(4001)->place.time, 4000);
  EXPECT_GE(history.last_until(3999)->place.time, 3700);  // the newest lie close together
  EXPECT_NE(history.last_until(2000), nullptr);           // of old ones there are some
}

}  // namespace
}  // namespace tilewright::cli
