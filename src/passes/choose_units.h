// SPDX-License-Identifier: Apache-2.0
// passes/choose_units.h — which instructions make a matrix product. Takes a kernel at the Tile stage, before pipeline_loops,
// which gives loops of asynchronous products one slot more; for machines that have them.
//
//   %c = dot %a, %b, %sum   =>   %c = dot %a, %b, %sum {unit = "wgmma"}
//
// Asynchronous products of warpgroups take 64 rows and more, 8 columns and more, four warps and more. Their operands lie in
// shared memory with lines along the depth; those of 16 bits may have lines across it. What has no unit is made by the
// instructions of a warp, or by multiplications and additions where none fits.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

// Gives a sentence for every product that could have been made by warpgroups and is not.
std::vector<std::string> choose_units(ir::Kernel& kernel, const Target& target, int num_warps);
// With four warps.
void choose_units(ir::Kernel& kernel, const Target& target);

// Whether a product goes on beside the threads that start it.
bool is_asynchronous(const ir::Op& dot);

}  // namespace tilewright
