// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.h — what tells launches apart that need different code, as 128 bits.
#pragma once

#include "compiler/triton_state.h"

namespace tilewright {

// Of the kinds of the arguments (specialize.h), the values that heuristics and the autotuner read,
// and the options; arguments of rare types may have a key of their own although the code is the
// same. Part of every launch: it allocates nothing and hashes no text but that of
// arguments that are texts. Throws ArgumentError when a parameter cannot take its argument.
Hash128 launch_key(const TritonKernel::State& state, const TritonArgument* const* slots,
                   const TritonLaunch& launch, const LaunchPlace& place);

}  // namespace tilewright
