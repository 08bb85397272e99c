// SPDX-License-Identifier: Apache-2.0
// passes/hoist_loop_invariants.h — pure ops in a loop that do not depend on it move before it.
//
// Pure ops only: they may run when the loop runs no time at all. Runs after common subexpressions
// are gone, innermost loops first, so that what leaves an inner loop can leave the outer one too.
//
//   for %a, %b, %c (%i: i32) {           %two = mul %n, %n : i32
//     %two = mul %n, %n : i32       =>   for %a, %b, %c (%i: i32) {
//     ...                                  ...
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void hoist_loop_invariants(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
