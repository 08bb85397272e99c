// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/report.h — what a tuning says of each config of a Triton kernel.
#pragma once

#include <string>
#include <vector>

#include "compiler/tune/outcome.h"
#include "frontend/python/value.h"

namespace tilewright {

struct ConfigOutcome : TrialOutcome {
  python::ConfigValue config;

  ConfigOutcome() = default;
  explicit ConfigOutcome(python::ConfigValue of) : config(std::move(of)) {}
};

struct TuneReport {
  std::string kernel;
  std::string device;
  std::string key;
  std::vector<ConfigOutcome> configs;
  int winner = -1;
  bool was_stored = false;  // the winner was known and nothing was measured
  bool was_interrupted = false;
  double seconds = 0;
  std::vector<std::string> notes;

  const ConfigOutcome* best() const {
    return winner < 0 ? nullptr : &configs[static_cast<std::size_t>(winner)];
  }
};

void skip_hopeless(std::vector<ConfigOutcome>& configs);

// One error with the reason of every config.
std::string all_failed_text(const TuneReport& report);

}  // namespace tilewright
