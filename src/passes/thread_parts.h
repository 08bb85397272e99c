// SPDX-License-Identifier: Apache-2.0
// passes/thread_parts.h — how many parts of an axis a block's threads have: elements of the same
// part lie in one thread. Takes a kernel at the Tile stage, before threads are dealt out.
//
// assign_layouts gives a thread a vector of up to 16 bytes along the contiguous dimension, then goes
// over all threads, and only then gives a thread its next elements. So elements whose indices differ
// only in bits above those of vectors and threads are in one thread, whatever the vector is in the
// end. A guess that is wrong costs exchanges between threads, never the result.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace tilewright {

// Of the axis of a tile that is computed in this loop: as many as it has elements where nothing is
// known, 1 where the whole axis lies in one thread.
std::int64_t thread_parts(const ir::Kernel& kernel, const ir::Op& loop, const ir::Type& tile,
                          int axis, std::int64_t threads);

}  // namespace tilewright
