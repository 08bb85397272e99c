// SPDX-License-Identifier: Apache-2.0
// compiler/tune/rotation.h — who is fastest: candidates take turns until the slow ones are out and
// the rest is known well enough.
//
// Turns instead of one after the other, so that a machine that grows warm or busy slows all alike;
// each round begins with another candidate. Where times come from is a Turns' business, so that the
// rules can be tested with times made up by the test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/tune/store.h"

namespace tilewright {

class Turns {
 public:
  virtual ~Turns() = default;
  // Runs candidate `i` `count` times and appends the time of each. A UserError or OutOfMemory puts
  // the candidate out; all else passes through.
  virtual void take(std::size_t i, int count, std::vector<double>& seconds) = 0;
  virtual double now() = 0;  // the wall clock that limits are checked against
  // After each turn; true ends the measuring.
  virtual bool is_over(std::size_t i) = 0;
};

struct RotationOptions {
  int min_rounds = 4;
  int max_rounds = 12;
  double seconds = 1;           // of all together; one round is always made
  double turn_seconds = 0.004;  // what one turn should take
};

struct Candidate {
  std::vector<double> samples;
  bool is_out = false;  // slower than the best, or failed
  std::string problem;  // of the failed
};

// Candidates that are out before are left alone.
void rotate(std::vector<Candidate>& candidates, Turns& turns, const RotationOptions& options);

// The index of the fastest by the median; -1 when none was timed.
int fastest(const std::vector<Candidate>& candidates);
Timing timing_of(const std::vector<double>& samples);

}  // namespace tilewright
