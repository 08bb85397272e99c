// SPDX-License-Identifier: Apache-2.0
// frontend/python/arithmetic.h — Python's operators on values: floor division, checked 64-bit
// integers, true division.
#pragma once

#include <string>

#include "frontend/python/value.h"

namespace tilewright::python {

// Lists, ranges and products are read up to this length.
constexpr std::size_t max_items = std::size_t{1} << 20;

// All of these throw Unsupported for operands that Python, or this evaluator, does not take.
Value apply(BinaryOperator op, const Value& left, const Value& right);
Value apply(UnaryOperator op, const Value& operand);
bool compare(CompareOperator op, const Value& left, const Value& right);
// For sorting and min/max.
bool less(const Value& left, const Value& right);
// value[index]; `index` is no slice.
Value element(const Value& value, const Value& index);

std::int64_t checked_add(std::int64_t left, std::int64_t right);
std::int64_t floor_divide(std::int64_t left, std::int64_t right);
// Of floats, whose divisor is not 0: the remainder is exact and has the sign of the divisor, the
// quotient is what belongs to it (1.0 // 0.1 is 9).
double floor_divide(double left, double right);
double floor_modulo(double left, double right);

}  // namespace tilewright::python
