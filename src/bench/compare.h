// SPDX-License-Identifier: Apache-2.0
// bench/compare.h — the turns and the ratio of tw::compare, over samplers that a test can make up.
#pragma once

#include <vector>

#include "bench/measure.h"
#include "base/statistics.h"

namespace tilewright {

struct Turns {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> ratios;  // of each round: b against the A before and the A after it
  int warmups = 0;
};

// A B A B ... A, each turn long enough to be timed well; at least 11 rounds unless the time is up.
Turns take_turns(Sampler& a, Sampler& b, const BenchOptions& options);

}  // namespace tilewright
