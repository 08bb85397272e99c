// SPDX-License-Identifier: Apache-2.0
// codegen/text/expressions.h — one scalar op as a C++ expression, the same text for both languages.
//
// Plain operators stay operators (the small floats have them too); everything else is a function of
// the device library of that name: tw::exp, tw::max_number, tw::to_f16, tw::shift_left. The meaning
// is that of ir/interpret; on signed integers the text relies on wrapping
// arithmetic (wrapping_text is for a compiler that has none).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/kernel.h"

namespace tilewright {

// The C++ name of an element type: "f32", "i64", "f16*". Bools are bytes in memory: "u8*".
std::string type_text(const ir::Type& type);

// A constant of the type: 1.5f, -2147483647 - 1 in parentheses, tw::inf<f32>(), f16 by its bits.
std::string literal_text(const ir::Type& type, const ir::AttributeValue& value);

// An operand as it is written: a name, a literal, a call or something in parentheses.
struct OperandText {
  std::string text;
  ir::Type type;                           // only its element counts
  std::optional<std::int64_t> constant{};  // of an integer that is known
};

// The value of an elementwise op. May need parentheses where it becomes an operand of another.
std::string expression_text(const ir::Op& op, const ir::Type& result,
                            std::span<const OperandText> operands);

// Whether the op is written as a call of a function, whatever its operands are.
bool is_function_call(const ir::Op& op, const ir::Type& result,
                      std::span<const OperandText> operands);

// tw::wrap_add(a, b) and the like, for a compiler whose integers do not wrap, of ops that can
// overflow; empty for all others.
std::string wrapping_text(const ir::Op& op, std::span<const OperandText> operands);

// The conversion alone; `rounding` is as in the op `cast`.
std::string cast_text(const ir::Type& from, const ir::Type& to, const std::string& text,
                      std::string_view rounding);

// `text` in parentheses, unless it is a name, a number or a call.
std::string atom(const std::string& text);

}  // namespace tilewright
