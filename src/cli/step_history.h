// SPDX-License-Identifier: Apache-2.0
// cli/step_history.h — checkpoints of the program that is stepped through, so that going back runs
// only a few milliseconds of it again.
//
// One is made whenever the program has computed for a while. When they take too much memory, old
// ones go: those that are left lie the further apart the longer ago they are.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/checkpoint.h"

namespace tilewright::cli {

// Where a stepper stands in a program.
struct StepPlace {
  std::int64_t time = 0;  // ops of this program so far
  int file = 0;
  int line = 0;
  bool has_jumped = true;
  std::vector<int> calls;  // functions, the kernel first
  std::vector<int> call_lines;
  // By function and name: the value that was computed last.
  std::map<std::pair<int, std::string>, ir::Value> names;
};

struct StepMark {
  StepPlace place;
  std::size_t lines = 0;   // that have begun
  std::size_t writes = 0;  // to memory
  ir::Checkpoint program;
};

class StepHistory {
 public:
  // How much memory it may take, and how long a program computes between two of them.
  struct Limits {
    std::size_t bytes = std::size_t{512} << 20;
    std::chrono::milliseconds spacing{8};
  };
  explicit StepHistory(Limits limits) : limits_(limits), spacing_(limits.spacing) {}

  void clear();
  // Makes one if the program has computed for long enough since the last.
  void keep(const std::function<StepMark()>& make);
  // The last that is not after this time; later ones are forgotten. Null: none.
  const StepMark* last_until(std::int64_t time);
  // Around what is no computing: waiting for a command.
  void pause() { paused_ = Clock::now(); }
  void go_on() { since_ += Clock::now() - paused_; }

  std::size_t size() const { return marks_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  void thin();

  Limits limits_;
  std::size_t bytes_ = 0;
  std::vector<StepMark> marks_;
  Clock::time_point since_ = Clock::now();
  Clock::time_point paused_;
  Clock::duration spacing_;
};

}  // namespace tilewright::cli
