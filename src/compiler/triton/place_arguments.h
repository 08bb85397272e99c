// SPDX-License-Identifier: Apache-2.0
// compiler/triton/place_arguments.h — one pass over the arguments of a launch: to which parameter each
// belongs, on which device they are, and the key of it all.
#pragma once

#include "compiler/triton/triton_state.h"

namespace tilewright {

// Allocates nothing. `slots` has room for every parameter; those without an argument become null.
// Throws ArgumentError for arguments that are too many, given twice, without a parameter, or on
// different devices.
void place_arguments(const TritonKernel::State& state, const TritonLaunch& launch,
                     std::span<const TritonArgument> arguments, const TritonArgument** slots,
                     LaunchPlace& place, LaunchKey& key);

// That of the stream, else the default.
Device device_without_tensors(const TritonLaunch& launch);

// The parameter of that name. Arguments with names mostly come in the order of the parameters:
// `likely` is looked at first. Throws ArgumentError with the nearest names.
std::size_t index_of(const TritonKernel::State& state, std::string_view name, std::size_t likely);

}  // namespace tilewright
