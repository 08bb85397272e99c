// SPDX-License-Identifier: Apache-2.0
// passes/load_before_branches.h — inside a lock, loads come before the branch that needs them.
//
// Programs wait for each other there, and a branch that depends on a load makes the next load wait
// for it. A load of what is written after the branch anyway may come first: its memory is there.
//
//   %n = load %count : i32                       %n = load %count : i32
//   %c = compare %n, %zero {is = "eq"} : b1      %c = compare %n, %zero {is = "eq"} : b1
//   %s = if %c : f32[64] {                       %y = load %p, %mask : f32[64]
//     yield %x                                   %s = if %c : f32[64] {
//   } then {                                =>     yield %x
//     %y = load %p, %mask : f32[64]              } then {
//     %z = add %x, %y : f32[64]                    %z = add %x, %y : f32[64]
//     yield %z                                     yield %z
//   }                                            }
//   store %p, %s, %mask                          store %p, %s, %mask
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void load_before_branches(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
