// SPDX-License-Identifier: Apache-2.0
// passes/persist_programs.h — blocks take one program after the other. Takes a kernel at the Tile
// stage whose programs are numbered along one axis and do not wait for each other; split_roles does
// it for kernels that it takes apart.
//
//   %pid = program_id {axis = 0}          for %p = program_id, num_programs, num_blocks
//   .. %pid ..                       =>     .. %p ..
//
// A launch has as many blocks as multiprocessors then, and what is read ahead crosses the border
// between two programs.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void persist_programs(ir::Kernel& kernel, const Target& target);

// ---- For split_roles.

// Whether programs are numbered along axis 0 alone.
bool has_one_axis(const ir::Kernel& kernel);
// Ops without barriers of their own, and whose programs may run in any order: others would wait for
// the producer, too.
bool may_stand_beside_roles(const ir::Op& op);
void loop_over_programs(ir::Kernel& kernel);

}  // namespace tilewright
