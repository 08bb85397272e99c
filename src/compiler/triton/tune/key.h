// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/key.h — what tells the tunings of one kernel apart, as in Triton: the values of the
// arguments that `key` names, and the types of the tensors.
#pragma once

#include <string>

#include "compiler/triton/resolve.h"

namespace tilewright {

// "M=512, N=512, a_ptr:fp16, b_ptr:fp16", and the options that the launch itself gives. `autotune`
// may be null: a kernel without one is told apart by the types alone.
std::string tune_key(const LaunchRequest& request, const KernelAutotune* autotune);

// Does the launch leave out constants that only a config can give? Of kernels without decorators.
bool lacks_constants(const LaunchRequest& request);

}  // namespace tilewright
