// SPDX-License-Identifier: Apache-2.0
// passes/find_access_forms.h — pointers and masks of memory ops as functions of the index:
// `affine` and `bounds`. Takes a kernel from the Source to the Tile stage.
//
// Runs after canonicalize, common subexpressions and loop invariants, which bring splats outward
// and leave uniform arithmetic on scalars; afterwards the same passes again tidy the scalars it
// makes. Loops that move a whole tile carry a scalar instead (access_forms/carried_tiles.h). What
// has no such form stays as it is and is gathered: an index loaded from memory, a wrapped one
// (`% n`), a pointer chosen by a select. A mask that has a form only in part becomes
// `and(bounds, rest)`.
//
// Signed index arithmetic of 32 and 64 bits on tiles is taken not to overflow: an index is computed
// in 64 bits here, whatever width it had in the source. A mask of what is multiplied by 4096 and more
// stays as it is: numbers that wrap are made that way.
//
//   %o = add %pid_tile, %range : i32[64]        %b = offset %x, %first : *f32
//   %p = offset %x_tile, %o : *f32[64]     =>   %p = affine %b, %one : *f32[64]
//   %m = compare %o, %n_tile {is = "lt"}        %h = sub %n, %first : i64
//   %v = load %p, %m                            %m = bounds %zero, %h : b1[64]
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void find_access_forms(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
