// SPDX-License-Identifier: Apache-2.0
// passes/spread_hints.h — a promise made as a statement holds for the value from there on.
//
//   tl.multiple_of(p, 16)                      %h = hint %p {divisible = [16]}
//   x = tl.load(p)                        =>   %x = load %h
//
// Triton notes such a promise at the value itself. Here `hint` is a value of its own: nobody uses
// the one that a statement makes, so that what comes after it uses that instead of what it is of.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void spread_hints(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
