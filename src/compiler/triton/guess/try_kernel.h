// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/try_kernel.h — compiles one kernel with guessed signatures until one works.
#pragma once

#include <string>

#include "compiler/triton/guess/guess.h"
#include "tilewright/target.h"

namespace tilewright {

enum class GuessStage { Ir, Source, Binary };

struct TryOutcome {
  bool ok = false;
  std::string reason;     // of the first attempt, when none works: one line, "file:line: message"
  std::string signature;  // that worked, or that was tried first
};

// Throws nothing that a kernel can cause, InternalError included: that is a reason too.
TryOutcome try_kernel(python::ModuleLoader& loader, Guesser& guesser,
                      const python::DecoratedFunction& function, const Target& target,
                      GuessStage stage);

// The message of an error, at its place, in one line.
std::string one_line(const std::exception& error);

}  // namespace tilewright
