// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_to_loops.h — from stage Laid to stage Final on the CPU: sweeps become loops,
// tiles that outlive them arrays, and the whole an entry that runs a range of programs.
//
//   sweep {shape = [64]} {                         for 0, %end, 1 {over = "elements", simd = 1}
//   (%i) {
//     %p = affine %from, 1 : *f32[64]        =>      %x = load (offset %from, %i) : f32
//     %x = load %p, %inside : f32[64]                ..
#pragma once

#include "ir/kernel.h"

namespace tilewright {

// Every op of a Laid kernel has a lowering.
ir::Kernel lower_to_loops(const ir::Kernel& laid);

}  // namespace tilewright
