// SPDX-License-Identifier: Apache-2.0
// frontend/triton/types.h — Triton's view of element types: names, widths, kinds, and how two of
// them meet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/triton/value.h"
#include "ir/type.h"

namespace tilewright::triton {

// "fp32", "int1", "fp8e4nv": the names that Triton prints.
std::string_view triton_name(DType dtype);
// "fp32", "float32" and "float8e4nv" give the type; nothing for what is no type.
std::optional<DType> dtype_named(std::string_view name);
// "float32[64, 32]", "pointer<float16>": how messages write a type.
std::string text_of(const ir::Type& type);
std::string text_of_shape(const std::vector<std::int64_t>& shape);
// How Triton's str() writes a type: "fp32", "pointer<fp32>", "<[64, 32], fp32>".
std::string triton_text(const ir::Type& type);

// In Triton int1 is an unsigned integer of one bit.
bool is_integral(const ir::Type& type);
bool is_unsigned_integral(const ir::Type& type);
bool is_float8(const ir::Type& type);
int bits_of(const ir::Type& type);
// The smallest and largest value of an integer type.
std::pair<Int128, Int128> range_of(DType dtype);

// An operand as promotion sees it: constants are weak, they take part only with a higher kind.
struct OperandType {
  DType dtype = DType::Int32;
  bool is_weak = false;
};
// The type two operands are computed in; `divides` for / // and %. Throws Mistake.
DType promote(OperandType a, OperandType b, bool divides);

// The type that a number has by itself: int32 if it fits, ..., float32, int1. Throws Mistake.
DType type_of_number(const Value& number);

}  // namespace tilewright::triton
