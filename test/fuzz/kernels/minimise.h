// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/minimise.h — the smallest part of a kernel that still fails in the same way.
#pragma once

#include "evaluate.h"

namespace tilewright::fuzz {

struct Minimised {
  Program program;
  Failure failure;
};

// Leaves out statements, and compound statements around others, while the program fails at the same
// place with the same kind of failure; at most `attempts` programs are tried.
Minimised minimise(const Program& program, const Failure& failure, EvaluateOptions options,
                   int attempts);

}  // namespace tilewright::fuzz
