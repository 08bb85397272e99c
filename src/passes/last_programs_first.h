// SPDX-License-Identifier: Apache-2.0
// passes/last_programs_first.h — programs are numbered from the other end where later ones have
// more rounds to run. Takes a kernel at the Tile stage whose programs may run in any order.
//
//   %pid = program_id {axis = 0}          %block = program_id {axis = 0}
//   %end = mul %pid, 128            =>    %pid = (num_programs {axis = 0} - 1) - %block
//   for 0, %end                           for 0, %pid * 128
//
// A GPU starts blocks in the order of their numbers. In causal attention the last rows see the most
// columns: started first, they do not run alone at the end. Only where TILEWRIGHT_EXTRA_PASSES names
// it: measured between 1% slower and 2% faster (roles/model.h).
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

// Axes along which a loop gets more rounds and none fewer; none where programs may not change
// places.
std::vector<int> find_growing_axes(const ir::Kernel& kernel);
void number_from_last(ir::Kernel& kernel, const std::vector<int>& axes);

void last_programs_first(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
