// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/access_hints.h — which loads and stores touch their data once in a launch.
//
// A kernel that reads the same weights in every program wants them in the first-level cache, which
// the rows that pass through it once would fill instead.
#pragma once

#include <unordered_set>

#include "ir/kernel.h"

namespace tilewright {

// Loads and stores of tiles whose addresses are others in every program, when there are also loads
// that several programs share; else none.
std::unordered_set<const ir::Op*> touched_once(const ir::Kernel& kernel);

}  // namespace tilewright
