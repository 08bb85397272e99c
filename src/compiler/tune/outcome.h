// SPDX-License-Identifier: Apache-2.0
// compiler/tune/outcome.h — what a tuning says of each candidate.
#pragma once

#include <span>
#include <string>

#include "compiler/tune/store.h"

namespace tilewright {

struct TrialOutcome {
  enum class Kind : std::uint8_t {
    Unmeasured,  // interrupted, or the only one left
    Timed,
    Slower,  // left the rotation early
    Stored,  // timed by an earlier run
    Same,  // means the same as an earlier one, `problem`: on a CPU warps and stages change nothing
    Skipped,  // `problem` says why
  };
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

// Skips what need not be timed: candidates of which no block fits a multiprocessor, and those that
// spill much where others spill nothing.
void skip_hopeless(std::span<TrialOutcome* const> trials);

}  // namespace tilewright
