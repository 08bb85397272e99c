// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_to_loops.h — from stage Laid to stage Final on the CPU: sweeps become loops,
// tiles that outlive them arrays, and the whole an entry that runs a range of programs.
//
//   sweep {shape = [64]} {                         for 0, %end, 1 {over = "elements", simd = 1}
//   (%i) {
//     %p = affine %from, 1 : *f32[64]        =>      %x = load (offset %from, %i) : f32
//     %x = load %p, %inside : f32[64]                ..
#pragma once

#include <optional>
#include <string>

#include "ir/kernel.h"

namespace tilewright {

// Nothing where the kernel holds what has no lowering yet: reductions along rows that are
// calls of the library or read ahead. Such a kernel is written as a whole by ProgramWriter, and
// `refusal` is the sentence that says why.
std::optional<ir::Kernel> lower_to_loops(const ir::Kernel& laid, std::string* refusal = nullptr);

}  // namespace tilewright
