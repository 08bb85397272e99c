// SPDX-License-Identifier: Apache-2.0
// passes/laid/laid_facts.h — what the passes over a Laid kernel ask of it, found once: its steps,
// and how its pointers are aligned. Stays right while tables and attributes change, and ops do not.
#pragma once

#include "ir/kernel.h"
#include "passes/laid/alignment.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

struct LaidFacts {
  // `threads` work on a program. The kernel must outlive this and stay where it is.
  LaidFacts(const ir::Kernel& kernel, int threads) : sweeps(kernel), alignments(kernel) {
    alignments.rotate(find_rotation(kernel, sweeps, alignments, threads));
  }

  Sweeps sweeps;
  Alignments alignments;
};

}  // namespace tilewright
