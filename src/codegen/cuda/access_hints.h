// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/access_hints.h — which loads and stores touch their data once in a launch.
//
// What the programs share (weights) comes from a near cache and can be loaded late.
#pragma once

#include <unordered_set>

#include "ir/kernel.h"

namespace tilewright {

// Loads and stores of tiles whose addresses are others in every program, when there are also loads
// that several programs share; else none.
std::unordered_set<const ir::Op*> touched_once(const ir::Kernel& kernel);

// Loads of tiles that stream through: nobody reads their data again. Lines of those should leave L2
// after lines that are written meanwhile (Cache::Linger): a row that is written then reaches memory
// in one go. Not where many weights go through the first-level cache beside a long row, which that
// makes slower.
std::unordered_set<const ir::Op*> streaming_loads(const ir::Kernel& kernel);

}  // namespace tilewright
