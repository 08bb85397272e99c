// SPDX-License-Identifier: Apache-2.0
// passes/add_into_dots.h — a product that is added to a tile starts from that tile. Takes a kernel at the Source stage.
//
//   %p = dot %a, %b, 0                  %q = dot %a, %b, %c
//   %q = add %c, %p              =>
//
// Instructions for products add to what is there anyway: the sum costs nothing then, nor do registers for the product alone, and
// a loop whose product only adds up can let it go on (pipeline_loops). Floats are rounded once less. Products of 16-bit floats
// and those that ask for sums of fewer bits stay as they are, and all of kernels whose loops carry too many sums (carried_sums.h).
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void add_into_dots(ir::Kernel& kernel, const Target& target, int num_warps);
// With four warps.
void add_into_dots(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
