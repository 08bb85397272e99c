// SPDX-License-Identifier: Apache-2.0
// codegen/text/literals.cpp — constants as C++ writes them.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "codegen/text/expressions.h"
#include "ir/interpret/tile.h"

namespace tilewright {
namespace {

using ir::Type;

std::string integer_literal(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::Bool:
      return value ? "true" : "false";
    case DType::Int64:
      if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
      return fmt::format("{}ll", value);
    case DType::UInt64:
      return fmt::format("{}ull", static_cast<std::uint64_t>(value));
    case DType::UInt32:
      return fmt::format("{}u", static_cast<std::uint32_t>(value));
    case DType::Int32:
      if (static_cast<std::int32_t>(value) == std::numeric_limits<std::int32_t>::min())
        return "(-2147483647 - 1)";
      return fmt::format("{}", static_cast<std::int32_t>(value));
    case DType::Int16:
      return fmt::format("i16({})", static_cast<std::int16_t>(value));
    case DType::UInt16:
      return fmt::format("u16({})", static_cast<std::uint16_t>(value));
    case DType::Int8:
      return fmt::format("i8({})", static_cast<int>(static_cast<std::int8_t>(value)));
    default:
      return fmt::format("u8({})", static_cast<unsigned>(static_cast<std::uint8_t>(value)));
  }
}

// The shortest text that reads back as the same number.
template <class Float>
std::string finite_literal(Float value, std::string_view suffix) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + std::string(suffix);
}

std::string float_literal(DType dtype, double value) {
  const auto small = static_cast<float>(ir::round_to(dtype, value));
  switch (dtype) {
    case DType::Float16:
      return fmt::format("tw::f16_bits({:#06x})", float_to_half(small));
    case DType::BFloat16:
      return fmt::format("tw::bf16_bits({:#06x})", float_to_bfloat16(small));
    case DType::Float8E4M3:
      return fmt::format("tw::f8e4m3_bits({:#04x})", float_to_float8_e4m3(small));
    case DType::Float8E5M2:
      return fmt::format("tw::f8e5m2_bits({:#04x})", float_to_float8_e5m2(small));
    default:
      break;
  }
  const bool is_double = dtype == DType::Float64;
  const double rounded = is_double ? value : static_cast<double>(static_cast<float>(value));
  if (std::isnan(rounded)) return fmt::format("tw::nan<{}>()", type_text(Type::scalar(dtype)));
  if (std::isinf(rounded))
    return fmt::format("{}tw::inf<{}>()", rounded < 0 ? "-" : "", type_text(Type::scalar(dtype)));
  return is_double ? finite_literal(value, "") : finite_literal(static_cast<float>(value), "f");
}

}  // namespace

std::string literal_text(const Type& type, const ir::AttributeValue& value) {
  if (type.is_pointer) return fmt::format("({})nullptr", type_text(type.element()));
  if (type.is_float()) return float_literal(type.dtype, std::get<double>(value));
  return integer_literal(type.dtype, std::get<std::int64_t>(value));
}

}  // namespace tilewright
