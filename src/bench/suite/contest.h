// SPDX-License-Identifier: Apache-2.0
// bench/suite/contest.h — measures several contenders in turns, so that a machine that grows warm
// or busy slows all of them alike.
#pragma once

#include <functional>
#include <vector>

#include "bench/suite/explain.h"
#include "tilewright/benchmark.h"

namespace tilewright::suite {

// One turn's times.
struct Turn {
  std::vector<double> samples;
  bool is_stable = false;
  std::string clock;
  double host_seconds = 0;
  double graph_seconds = 0;
  std::string clock_note = {};
};

struct Contender {
  Record record;
  // Makes runs for about `seconds`; throws when the contender fails.
  std::function<Turn(double seconds)> measure;
  // Looks at its launches and counters after it was measured; may be empty.
  std::function<Evidence()> look = {};
};

struct ContestOptions {
  int rounds = 3;
  double seconds = 1.0;  // for each contender, over all rounds
  std::function<bool()> is_interrupted = [] { return false; };
  std::function<void(const std::string&)> show = [](const std::string&) {};
};

// Thrown out of a run when the user wants to stop.
struct Interrupted {};

// Fills in the times of the records. A contender that throws is out: its record says why, and the
// others go on. Contenders whose record is not Ok take no part. False when it was interrupted.
bool hold_contest(std::vector<Contender>& contenders, const ContestOptions& options);

// Times, rate and percent of a record from its samples.
void fill_times(Record& record, const std::vector<double>& samples);
void fill_rate(Record& record, const Ceilings& ceilings, bool is_arithmetic);

}  // namespace tilewright::suite
