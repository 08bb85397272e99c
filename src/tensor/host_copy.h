// SPDX-License-Identifier: Apache-2.0
// tensor/host_copy.h — copies with any strides and dtypes between two places in host memory.
#pragma once

#include "tensor/pair.h"
#include "tilewright/dtype.h"

namespace tilewright {

// Work on elements is handed out to threads in pieces of this size.
constexpr std::uint64_t elements_per_task = 64 * 1024;

// Both addresses are of the tensors' first elements; the memory must not overlap.
void copy_on_host(void* destination, DType to, const void* source, DType from, const Pair& pair);

}  // namespace tilewright
