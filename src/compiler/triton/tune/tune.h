// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/tune.h — chooses the fastest config of a kernel for a launch, and remembers
// it.
//
// Configs are compiled in parallel, hopeless ones skipped, the others timed in rotation with the
// launch's own arguments, whose memory is as before in the end. What is measured goes to the store
// at once; a config that fails is skipped with its reason, and configs that mean the same are timed
// once.
#pragma once

#include <functional>

#include "compiler/triton/resolve.h"
#include "compiler/triton/tune/report.h"

namespace tilewright {

struct TuneOptions {
  std::vector<python::ConfigValue> configs = {};  // else those of the kernel's autotune
  double seconds_per_config = 0.1;                // of timing
  bool is_forced = false;         // measures again although there is a winner, also a single config
  bool compares_results = false;  // configs whose results differ from the others' cannot win
  std::function<void(const std::string&)> progress = {};  // what is being done
  std::function<bool()> is_over = {};                     // true interrupts
};

// Takes the kernel's locks. Throws ArgumentError with every reason when no config can be run, and
// the kernel's own error when it is the same for all.
TuneReport tune(const LaunchRequest& request, const TritonArgument* const* slots,
                const TuneOptions& options);

// ---- At a launch.

// Whether a config must be looked for: an autotuned kernel, or one whose launch leaves out
// constants. Needs the kernel's lock.
bool is_tuned_at_launch(const LaunchRequest& request);

// The winner: known, stored, or found now. Empty where the first valid config is to be taken,
// because nothing can be timed (a graph is being captured) or there is nothing to choose. Takes the
// kernel's locks.
std::optional<python::ConfigValue> tuned_config(const LaunchRequest& request,
                                                const TritonArgument* const* slots);

}  // namespace tilewright
