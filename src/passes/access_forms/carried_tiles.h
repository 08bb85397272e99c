// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/carried_tiles.h — loops that move a whole tile by one distance each time
// carry a scalar instead.
//
// A pointer tile with a form is carried as the scalar pointer of its element 0; any other pointer
// or integer tile as the distance it has moved, added to the initial tile in the loop. What does
// not change is not carried at all, scalars neither: strides of a block pointer show again. `for`
// only.
//
//   for .., %p (%i, %q: *f16[64]) {            for .., %base (%i, %b: *f16) {
//     .. load %q ..                               %q = affine %b, %one : *f16[64]
//     %n = offset %q, %step_tile          =>     .. load %q ..
//     yield %n                                    %n = offset %b, %step : *f16
#pragma once

#include "passes/access_forms/sum.h"

namespace tilewright {

void carry_scalars(ir::Kernel& kernel, LoopDepths& depths);

}  // namespace tilewright
