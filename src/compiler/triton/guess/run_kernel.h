// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/run_kernel.h — runs one kernel on generated inputs in the interpreter and
// on a device, and compares what they leave in memory.
#pragma once

#include <string>

#include "compiler/triton/guess/guess.h"
#include "tilewright/device.h"

namespace tilewright {

struct RunOutcome {
  enum class Kind {
    Agrees,
    Disagrees,
    Kept,   // written for another program to compare
    Fails,  // compiles, but does not run to its end on the device
    // The interpreter found that one store writes an element twice, or that programs touch the same
    // elements: devices may differ, and nobody is wrong.
    OrderDependent,
    ChangesNothing,  // no guess that the interpreter accepts changes a tensor: nothing is compared
    CannotRun,       // the interpreter found an access out of bounds or an endless loop
    DoesNotCompile,
  };
  Kind kind = Kind::DoesNotCompile;
  std::string reason;     // of all but Agrees and Kept, one line
  std::string signature;  // of the launch that `kind` is about
  std::string arguments;  // of that launch: "grid=2,1,1 x=float32[4096] n=80 BLOCK=64"
};

std::string_view name_of(RunOutcome::Kind kind);

// What is compared with the interpreter.
struct RunDevice {
  Device device;
  const Target* emulate = nullptr;  // the CUDA text for this target on `device`, which is a CPU
  std::string keep = {};            // nothing is compared: the launch goes to this folder

  const Target& target() const { return emulate != nullptr ? *emulate : device.target(); }
};

// Tries guesses and sizes until the interpreter accepts one; throws nothing that a kernel can
// cause.
RunOutcome run_kernel(python::ModuleLoader& loader, Guesser& guesser,
                      const python::DecoratedFunction& function, const RunDevice& device);

}  // namespace tilewright
