// SPDX-License-Identifier: Apache-2.0
// codegen/schedule/form_sweeps.h — a schedule in the IR: the kernel of the Laid stage that it
// means.
//
// Loops over elements become sweeps. What a sweep keeps for later is yielded; what is computed
// again where it is needed is repeated in each sweep that needs it; views are index arithmetic
// inside the sweep. Inside a sweep loads come before the writes that follow them in the program.
//
//   %x = load %p : f32[64]              %m = sweep {shape = [64]} : f32 {
//   %m = reduce %x ..             =>      %x = load %p : f32[64]
//   %d = sub %x, splat %m                 %r = reduce %x ..
//   store %q, %d                          yield %r }
//                                       sweep {shape = [64]} {
//                                         %x = load %p ..  %d = sub %x, ..  store %q, %d  yield }
#pragma once

#include "codegen/schedule/schedule.h"
#include "ir/kernel.h"

namespace tilewright {

ir::Kernel form_sweeps(const ir::Kernel& kernel, const Schedule& schedule);

}  // namespace tilewright
