// SPDX-License-Identifier: Apache-2.0
// graph/plan/tune.h — Mode::MaxAutotune: block sizes and warps of each step of a plan, timed on
// this machine and kept on disk.
#pragma once

#include <cstddef>
#include <span>

#include "graph/plan/plan.h"

namespace tilewright::graph {

struct TuneCounts {
  std::size_t steps = 0;   // that have variants
  std::size_t timed = 0;   // variants that were timed now
  std::size_t stored = 0;  // steps whose winner was known
};

// Steps get the fastest of their variants. Nothing of the caller's changes: kernels write to memory
// of their own. Does nothing while the current stream is being captured.
TuneCounts tune_plan(Plan& plan, std::span<const Tensor> inputs);

// What this process knows besides the disk, as if it had just begun: for tests.
void forget_winners();

}  // namespace tilewright::graph
