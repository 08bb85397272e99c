// SPDX-License-Identifier: Apache-2.0
// ir/interpret/elementwise.h — ops whose result element depends on the operand elements at the same
// place.
#pragma once

#include <span>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// `operands` have as many elements as each other, or one. `float64`: floats are not rounded.
Tile interpret_elementwise(const Op& op, const Type& result, std::span<const Tile* const> operands,
                           bool float64);

// The functions of the `math` op on doubles; integers (popcount, clz) get the bits of `dtype`.
Element math_value(std::string_view function, DType dtype, std::span<const Element> operands);

}  // namespace tilewright::ir
