// SPDX-License-Identifier: Apache-2.0
// passes/note_ranges.h — between which numbers divisors and arguments of functions lie, as
// attributes of the ops: code generators choose shorter functions by them.
//
//   %d = sub %x, %top : f32[64]                 %d = sub %x, %top : f32[64]
//   %e = math %d {function = "exp"}       =>    %e = math %d {function = "exp", argument_to = 0.0}
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void note_ranges(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
