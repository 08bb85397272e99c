// SPDX-License-Identifier: Apache-2.0
// passes/laid/assign_layouts.h — a layout for every sweep and every buffer of a Laid kernel that
// has a shape, and the unit of every product.
//
// Sweeps and buffers that are read element by element share one layout. The biggest choose first,
// by their memory accesses: the contiguous dimension of the widest access is dealt out first, in
// vectors of up to 16 bytes for those in the deepest loop. Smaller ones take the layout in which
// their bigger neighbour (a broadcast that reads them, a reduction that makes them) has each
// element in the right thread already. Before all of them come the results of products, which are
// laid out as the instructions want them; a product whose result then lies otherwise has no unit.
//
//   shape {warps = 1}                 layout #0 [64] {register = [1], lane = [2, .. 32], warp = []}
//   buffer @x : f32[64]         =>    buffer @x : f32[64] {layout = "0"}
//   %x = sweep {shape = [64],         %x = sweep {shape = [64], layout = "0",
#pragma once

#include "passes/laid/laid_facts.h"
#include "tilewright/target.h"

namespace tilewright {

void assign_layouts(ir::Kernel& kernel, const LaidFacts& facts, const Target& target);

}  // namespace tilewright
