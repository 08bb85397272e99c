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

}  // namespace tilewright
