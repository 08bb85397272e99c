// SPDX-License-Identifier: Apache-2.0
// passes/negate_differences.h — `0 - x` is `-x` where nobody sees the sign of a zero.
//
//   %n = sub %zero, %x : f32[64]                  %n = neg %x : f32[64]
//   %e = math %n {function = "exp"}       =>      %e = math %n {function = "exp"}
//
// Triton's `-x` is 0 - x, which is 0 where x is 0; a negation makes -0 of it. Machines negate an
// operand at no cost, so a negation stands wherever nothing that the kernel stores can differ, or x
// is never 0 (ir/analysis/zero_signs.h).
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void negate_differences(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
