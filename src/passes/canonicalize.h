// SPDX-License-Identifier: Apache-2.0
// passes/canonicalize.h — one form for equal things: constants folded, neutral ops gone, splats
// outermost.
//
// Runs first at the Source stage and again after passes that leave folds behind. Later passes rely
// on: constants on the right of commutative ops, elementwise ops on splats done before the splat,
// no splat of a splat, no mask that is constant.
//
//   %a = splat %n : i32[64]                 %b = mul %n, %two : i32
//   %b = mul %a, %two_tile : i32[64]   =>   %c = splat %b : i32[64]
//   %c = add %b, %zero_tile : i32[64]
#pragma once

#include <span>

#include "ir/kernel.h"
#include "ir/rewrite.h"
#include "tilewright/target.h"

namespace tilewright {

void canonicalize(ir::Kernel& kernel, const Target& target);

// The rules, one file each under passes/canonicalize/.
std::span<const ir::Rule> arithmetic_rules();
std::span<const ir::Rule> shape_rules();
std::span<const ir::Rule> memory_rules();
std::span<const ir::Rule> control_rules();

}  // namespace tilewright
