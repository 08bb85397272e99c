// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/tuned_memory.h — the memory of a Triton launch that a tuning must look
// after.
#pragma once

#include <vector>

#include "compiler/triton/resolve.h"
#include "compiler/tune/saved_memory.h"

namespace tilewright {

// Parameters through which the kernel writes memory, and those through which it reads it as well,
// by index.
std::vector<std::size_t> written_parameters(const KernelDraft& draft);
std::vector<std::size_t> updated_parameters(const KernelDraft& draft);

// The values of these parameters' arguments, also inside of tuples and descriptors.
std::vector<NamedArgument> values_of(const LaunchView& view,
                                     const std::vector<std::size_t>& parameters);

}  // namespace tilewright
