// SPDX-License-Identifier: Apache-2.0
// compiler/specialize_kernel.h — what the arguments of a launch say of a kernel in the IR.
//
//   %x: *f32, %y: *f32, %n: i32, %stride: i32        addresses 0x1010 and 0x1020 of one tensor, 64,
//   1
//   => %x: *f32 {divisible = 16, memory = 0}, %y: *f32 {divisible = 16, memory = 0},
//      %n: i32 {divisible = 16}, and %stride is the constant 1
//
// The kernel keeps its arguments, so that a launch passes the same ones to every specialisation.
#pragma once

#include <span>

#include "compiler/launch_key.h"
#include "compiler/overlap.h"
#include "ir/kernel.h"

namespace tilewright {

// Of the kernel's arguments, for the keys of launches: what specialize_kernel looks at.
KeyRules key_rules_of(const ir::Kernel& kernel, bool specializes_integers = true);

// `arguments` fit the kernel (runtime/arguments.h). Memory that overlaps and that the kernel only
// reads is of no interest.
void specialize_kernel(ir::Kernel& kernel, std::span<const Argument> arguments,
                       const Overlaps& overlaps, bool specializes_integers = true);

}  // namespace tilewright
