// SPDX-License-Identifier: Apache-2.0
// compiler/guess/run_kernel.h — runs one kernel on generated inputs in the interpreter and on a
// device, and compares what they leave in memory.
#pragma once

#include <string>

#include "compiler/guess/guess.h"
#include "tilewright/device.h"

namespace tilewright {

struct RunOutcome {
  enum class Kind {
    Agrees,
    Disagrees,
    // The interpreter found an access out of bounds, an endless loop, or a result that depends on
    // the order of the programs.
    CannotRun,
    DoesNotCompile,
  };
  Kind kind = Kind::DoesNotCompile;
  std::string reason;     // of all but Agrees, one line
  std::string signature;  // of the launch that `kind` is about
  std::string arguments;  // of that launch: "grid=2,1,1 x=float32[4096] n=80 BLOCK=64"
};

std::string_view name_of(RunOutcome::Kind kind);

// Tries guesses and sizes until the interpreter accepts one; throws nothing that a kernel can
// cause.
RunOutcome run_kernel(python::ModuleLoader& loader, Guesser& guesser,
                      const python::DecoratedFunction& function, Device device);

}  // namespace tilewright
