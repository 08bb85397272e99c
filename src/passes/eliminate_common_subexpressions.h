// SPDX-License-Identifier: Apache-2.0
// passes/eliminate_common_subexpressions.h — equal pure ops become one.
//
// An op is replaced by an equal one that comes before it in its region or in a region around it.
// Only pure ops without regions take part: loads may see other memory. Runs after canonicalize,
// which makes equal things look equal.
//
//   %a = add %x, %y : i32        %a = add %x, %y : i32
//   %b = add %x, %y : i32   =>   store %p, %a
//   store %p, %b
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void eliminate_common_subexpressions(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
