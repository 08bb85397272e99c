// SPDX-License-Identifier: Apache-2.0
// frontend/triton/constants.h — what is known at compile time folds as in Python: floor division,
// true division, tuples and text included.
#pragma once

#include <optional>
#include <string>

#include "frontend/python/ast.h"
#include "frontend/triton/value.h"

namespace tilewright::triton {

// A bool counts as 0 or 1; nothing for all that is no number.
std::optional<Int128> integer_of(const Value& value);
std::optional<double> number_of(const Value& value);
bool is_number(const Value& value);  // bool, int or float

std::string to_text(Int128 value);
// A constant as Python prints it: 3, 0.5, 'text', None.
std::string text_of(const Constant& constant);

// Python's == and `is` on everything that is no tensor.
bool equal(const Value& a, const Value& b);

// Both operands are constants, tuples or other compile-time values. Throws Mistake for what Python
// would not take, and for integers beyond 127 bits.
Value fold(python::BinaryOperator op, const Value& a, const Value& b);
Value fold(python::UnaryOperator op, const Value& a);
bool fold(python::CompareOperator op, const Value& a, const Value& b);

}  // namespace tilewright::triton
