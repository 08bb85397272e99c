// SPDX-License-Identifier: Apache-2.0
// frontend/triton/structure.h — values seen as a pattern with IR values in its holes: what loops
// carry and branches yield.
#pragma once

#include <span>
#include <vector>

#include "frontend/triton/semantic.h"
#include "frontend/triton/value.h"

namespace tilewright::triton {

// The IR values inside, in order: a tensor, the fields of a block pointer, those of a tuple's
// items.
std::vector<ir::Value> ir_values(const Value& value);
// `pattern` with other IR values in the same places; takes as many as it needs from the front.
Value with_ir_values(const Value& pattern, std::span<const ir::Value>& values);

// The same constant, the same IR value, the same function, ...
bool same(const Value& a, const Value& b);
// Equal but for the IR values inside, which must have the same types.
bool alike(const ir::Kernel& kernel, const Value& a, const Value& b);

// Is it a number, or a tuple with one inside, that an assignment would make a tensor? Instances of
// classes keep their constants.
bool holds_numbers(const Value& value);
// Numbers become tensors, also inside tuples: what a plain assignment stores.
Value stored(Semantic& semantic, const Value& value);
// Numbers of `value` become tensors where `other` holds a tensor or a different number.
Value matched(Semantic& semantic, const Value& value, const Value& other);

}  // namespace tilewright::triton
