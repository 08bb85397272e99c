// SPDX-License-Identifier: Apache-2.0
// passes/turn_loads.h — loads for matrix products in the order in which memory lies.
//
// For machines whose products read memory through caches. A tile whose neighbours in memory lie
// along its columns (keys read as head x length) would be read one element at a time. When only
// products use it, the turned tile is loaded in whole rows; products read it through a permutation,
// which costs them nothing or a pack of a short panel.
//
//   %p = affine %k, %one, %n : *f32[64,32]       %q = affine %k, %n, %one : *f32[32,64]
//   %x = load %p : f32[64,32]               =>   %y = load %q : f32[32,64]
//   %z = dot %a, %x, %c : f32[16,32]             %x = permute %y {order = [1, 0]} : f32[64,32]
//                                                %z = dot %a, %x, %c : f32[16,32]
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void turn_loads(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
