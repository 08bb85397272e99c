// SPDX-License-Identifier: Apache-2.0
// compiler/triton/repeated_launch.h — is a Triton launch like one that was seen?
#pragma once

#include "compiler/known_launch.h"
#include "compiler/triton/triton_state.h"

namespace tilewright {

// If so, `slots` has its arguments by parameter, and `passed`, with room for one more than
// max_slots, the values by the compiled kernel's order. What is wrong with a launch is left to
// place_arguments. Takes no lock, allocates nothing.
bool repeats(const KnownLaunch& known, const TritonKernel::State& state, const TritonLaunch& launch,
             std::span<const TritonArgument> arguments, const TritonArgument** slots,
             const Argument** passed);

}  // namespace tilewright
