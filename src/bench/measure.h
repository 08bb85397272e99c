// SPDX-License-Identifier: Apache-2.0
// bench/measure.h — how many repetitions: warm-up until steady, then samples until the median is
// known well enough.
//
// Where times come from is a Sampler's business, so that these rules can be tested with times made
// up by the test.
#pragma once

#include <vector>

#include "tilewright/benchmark.h"

namespace tilewright {

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Makes `count` repetitions and appends the time of each.
  virtual void sample(int count, std::vector<double>& seconds) = 0;
  // Told the usual time of one repetition after the warm-up; may choose to time several calls as
  // one sample.
  virtual void settle(double typical_seconds) { static_cast<void>(typical_seconds); }
  // How long the host takes to queue one repetition; 0 where it does the work itself.
  virtual double host_seconds() const { return 0; }
  // The wall clock that limits are checked against.
  virtual double now() = 0;
};

struct Measurement {
  std::vector<double> samples;
  int warmups = 0;
  bool is_stable = false;
};

// `options` must have passed check_options. Runs exactly options.warmups and options.trials
// repetitions where they are set.
Measurement measure(Sampler& sampler, const BenchOptions& options);

// Whether the 95% interval of the samples' median is as narrow as this part of it.
bool is_known(std::vector<double> samples, double relative_interval);

// Throws ArgumentError that names the option.
void check_options(const BenchOptions& options);

}  // namespace tilewright
