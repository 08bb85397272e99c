// SPDX-License-Identifier: Apache-2.0
// passes/eliminate_dead_code.h — ops without effect whose results nobody uses are removed.
//
// Loads count as without effect unless they are volatile; loops and branches go when nothing in
// them has an effect and no result is used. A result of a branch that nobody uses goes from it, and
// so does a value that a loop carries only to compute its own next one. Runs last in a group of
// passes, since the others leave unused ops behind.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void eliminate_dead_code(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
