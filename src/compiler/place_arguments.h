// SPDX-License-Identifier: Apache-2.0
// compiler/place_arguments.h — one pass over the arguments of a launch: to which parameter each
// belongs, on which device they are, and the key of it all.
#pragma once

#include "compiler/triton_state.h"

namespace tilewright {

// `slots` has room for every parameter; those without an argument become null. Throws ArgumentError
// for arguments that are too many, given twice, without a parameter, or on different devices.
LaunchPlace place_arguments(const TritonKernel::State& state, const TritonLaunch& launch,
                            std::span<const TritonArgument> arguments, const TritonArgument** slots,
                            LaunchKey& key);

}  // namespace tilewright
