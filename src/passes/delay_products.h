// SPDX-License-Identifier: Apache-2.0
// passes/delay_products.h — a product of a loop whose left operand is computed from another product
// of the same round is made one round later, so that what computes the operand runs beside
// products. Takes a kernel at the Tile stage, after choose_units and before pipeline_loops. It runs
// only where TILEWRIGHT_EXTRA_PASSES names it.
//
//   for (%sum)                             for (%sum, %p = -0, %v = 0)
//     %s = dot %q, load(..), 0               %s = dot %q, load(..), 0 {pending = 1}
//     %p, %scale = .. %s ..           =>     %t = dot %p, %v, %sum {pending = 1}
//     %t = mul %sum, %scale                  %p', %scale = .. %s ..
//     yield dot %p, load(..), %t             yield mul %t, %scale, %p', load(..)
//                                          dot %p, %v, %sum
//
// Every sum gets the same terms in the same order: results stay the same, bit for bit. The first
// round adds -0 * 0, which leaves every sum as it is and costs one product of a loop;
// `pipeline_loops` gives the tile that is carried its slot. Of attention this starts S of a round
// and P x V of the round before together, waits for S alone and computes exponentials beside P x V.
//
// Loops stay as they are that have other products than these two, whose operand is loaded for
// another purpose too or cannot be loaded ahead, and whose slots would not fit in shared memory.
#pragma once

#include "ir/kernel.h"
#include "passes/pipeline_loops.h"
#include "tilewright/target.h"

namespace tilewright {

void delay_products(ir::Kernel& kernel, const PipelineLoopsOptions& options);
// With the default options and the shared memory of the target.
void delay_products(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
