// SPDX-License-Identifier: Apache-2.0
// compiler/place_arguments.h — one pass over the arguments of a launch: to which parameter each
// belongs, on which device they are, and the key of it all.
#pragma once

#include "compiler/triton_state.h"

namespace tilewright {

// `slots` has room for every parameter; those without an argument become null. Throws ArgumentError
// for arguments that are too many, given twice, without a parameter, or on different devices.
void place_arguments(const TritonKernel::State& state, const TritonLaunch& launch,
                     std::span<const TritonArgument> arguments, const TritonArgument** slots,
                     LaunchPlace& place, LaunchKey& key);

// The same without a key: is the launch like a known one?
bool place_like(const KnownLaunch& known, const TritonKernel::State& state,
                const TritonLaunch& launch, std::span<const TritonArgument> arguments,
                const TritonArgument** slots, LaunchPlace& place);

}  // namespace tilewright
