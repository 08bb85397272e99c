// SPDX-License-Identifier: Apache-2.0
// compiler/tune/outcome.h — what a tuning says of each config.
#pragma once

#include <string>
#include <vector>

#include "compiler/tune/store.h"
#include "frontend/python/value.h"

namespace tilewright {

struct ConfigOutcome {
  enum class Kind : std::uint8_t {
    Unmeasured,  // interrupted, or the only one left
    Timed,
    Slower,  // left the rotation early
    Stored,  // timed by an earlier run
    Same,  // means the same as an earlier one, `problem`: on a CPU warps and stages change nothing
    Skipped,  // `problem` says why
  };
  python::ConfigValue config;
  Kind kind = Kind::Unmeasured;
  Timing timing = {};
  std::string problem = {};
  // Of compiled ones on CUDA.
  int threads = 0;
  int registers = 0;
  std::size_t local_bytes = 0;  // per thread: spilled registers and indexed arrays
  std::int64_t shared_bytes = 0;
  int blocks_per_processor = 0;

  void skip(std::string why) {
    kind = Kind::Skipped;
    problem = std::move(why);
  }
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

// Skips what need not be timed: configs of which no block fits a multiprocessor, and those that
// spill much where others spill nothing.
void skip_hopeless(std::vector<ConfigOutcome>& configs);

// One error with the reason of every config.
std::string all_failed_text(const TuneReport& report);

}  // namespace tilewright
