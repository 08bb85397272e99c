// SPDX-License-Identifier: Apache-2.0
// base/dtype.cpp — the table of element types and the conversions of the small floats.
#include "tilewright/dtype.h"

#include <bit>
#include <cmath>
#include <string>

#include "base/check.h"
#include "base/nearest.h"

namespace tilewright {
namespace {

enum class Family : std::uint8_t { Floating, Signed, Unsigned, Boolean };

struct Facts {
  std::string_view name;
  std::string_view short_name;
  std::uint8_t size;
  Family family;
};

constexpr Facts facts[dtype_count] = {
    {"float64", "f64", 8, Family::Floating},
    {"float32", "f32", 4, Family::Floating},
    {"float16", "f16", 2, Family::Floating},
    {"bfloat16", "bf16", 2, Family::Floating},
    {"float8_e4m3", "f8e4m3", 1, Family::Floating},
    {"float8_e5m2", "f8e5m2", 1, Family::Floating},
    {"int8", "i8", 1, Family::Signed},
    {"int16", "i16", 2, Family::Signed},
    {"int32", "i32", 4, Family::Signed},
    {"int64", "i64", 8, Family::Signed},
    {"uint8", "u8", 1, Family::Unsigned},
    {"uint16", "u16", 2, Family::Unsigned},
    {"uint32", "u32", 4, Family::Unsigned},
    {"uint64", "u64", 8, Family::Unsigned},
    {"bool", "b1", 1, Family::Boolean},
};

// What C++, PyTorch and Triton also call them.
constexpr std::pair<std::string_view, DType> other_names[] = {
    {"float8_e4m3fn", DType::Float8E4M3},
    {"float8e4nv", DType::Float8E4M3},
    {"fp8e4nv", DType::Float8E4M3},
    {"float8e5", DType::Float8E5M2},
    {"fp8e5", DType::Float8E5M2},
    {"float", DType::Float32},
    {"fp32", DType::Float32},
    {"double", DType::Float64},
    {"fp64", DType::Float64},
    {"half", DType::Float16},
    {"fp16", DType::Float16},
    {"i1", DType::Bool},
    {"int1", DType::Bool},
    {"u1", DType::Bool},
};

const Facts& facts_of(DType dtype) { return facts[static_cast<int>(dtype)]; }

// A float with fewer bits, described by its fields. `has_infinity` is false for e4m3, whose largest
// exponent holds numbers.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int max_exponent_field() const { return (1 << exponent_bits) - 1; }
  std::uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  std::uint32_t infinity() const {
    return static_cast<std::uint32_t>(max_exponent_field()) << mantissa_bits;
  }
  std::uint32_t nan() const {
    return has_infinity ? infinity() | 1u << (mantissa_bits - 1)
                        : infinity() | ((1u << mantissa_bits) - 1);
  }
  std::uint32_t overflow() const { return has_infinity ? infinity() : nan(); }
};

constexpr SmallFloat half{5, 10, true};
constexpr SmallFloat e4m3{4, 3, false};
constexpr SmallFloat e5m2{5, 2, true};

float widen(const SmallFloat& f, std::uint32_t bits) {
  const bool negative = (bits & f.sign_bit()) != 0;
  const std::uint32_t magnitude = bits & (f.sign_bit() - 1);
  const std::uint32_t exponent = magnitude >> f.mantissa_bits;
  const std::uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const std::uint32_t sign = negative ? 0x80000000u : 0u;
  if (f.has_infinity && magnitude >= f.infinity())  // keeps a NaN's payload, as hardware does
    return std::bit_cast<float>(sign | 0x7f800000u | mantissa << (23 - f.mantissa_bits));
  if (!f.has_infinity && magnitude == f.nan()) return std::bit_cast<float>(sign | 0x7fc00000u);
  float value;
  if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - f.bias() - f.mantissa_bits);
  else
    value = std::bit_cast<float>((exponent + 127u - static_cast<std::uint32_t>(f.bias())) << 23 |
                                 mantissa << (23 - f.mantissa_bits));
  return negative ? -value : value;
}

std::uint32_t narrow(const SmallFloat& f, float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) ? f.sign_bit() : 0;
  std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | f.nan();
  if (magnitude == 0x7f800000u) return sign | f.overflow();
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int smallest_normal = 1 - f.bias();
  // The bits that fall away: more of them below the smallest normal number.
  int dropped = 23 - f.mantissa_bits;
  if (exponent < smallest_normal) dropped += smallest_normal - exponent;
  if (dropped > 24) return sign;
  const std::uint32_t significand = (magnitude & 0x7fffffu) | (exponent > -127 ? 0x800000u : 0u);
  const std::uint32_t half_unit = 1u << (dropped - 1);
  std::uint32_t rounded = significand >> dropped;
  const std::uint32_t rest = significand & ((1u << dropped) - 1);
  if (rest > half_unit || (rest == half_unit && (rounded & 1))) ++rounded;
  // A normal significand carries its leading one into the exponent field, which therefore starts
  // one lower.
  std::uint32_t out = rounded;
  if (exponent >= smallest_normal)
    out += static_cast<std::uint32_t>(exponent + f.bias() - 1) << f.mantissa_bits;
  const std::uint32_t first_not_finite = f.has_infinity ? f.infinity() : f.nan();
  return sign | (out >= first_not_finite ? f.overflow() : out);
}

}  // namespace

std::size_t size_of(DType dtype) { return facts_of(dtype).size; }
std::string_view name_of(DType dtype) { return facts_of(dtype).name; }
bool is_floating(DType dtype) { return facts_of(dtype).family == Family::Floating; }
bool is_integer(DType dtype) {
  return facts_of(dtype).family == Family::Signed || facts_of(dtype).family == Family::Unsigned;
}
bool is_signed(DType dtype) {
  return facts_of(dtype).family == Family::Floating || facts_of(dtype).family == Family::Signed;
}

DType parse_dtype(std::string_view name) {
  std::vector<std::string> known;
  for (int i = 0; i < dtype_count; ++i) {
    if (name == facts[i].name || name == facts[i].short_name) return static_cast<DType>(i);
    known.emplace_back(facts[i].name);
  }
  for (const auto& [other, dtype] : other_names)
    if (name == other) return dtype;
  throw ArgumentError(fmt::format("unknown element type '{}'{}", name, suggest_names(name, known)));
}

float half_to_float(std::uint16_t bits) { return widen(half, bits); }
float float8_e4m3_to_float(std::uint8_t bits) { return widen(e4m3, bits); }
float float8_e5m2_to_float(std::uint8_t bits) { return widen(e5m2, bits); }
float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t float_to_half(float value) { return static_cast<std::uint16_t>(narrow(half, value)); }
std::uint8_t float_to_float8_e4m3(float value) {
  return static_cast<std::uint8_t>(narrow(e4m3, value));
}
std::uint8_t float_to_float8_e5m2(float value) {
  return static_cast<std::uint8_t>(narrow(e5m2, value));
}

std::uint16_t float_to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // a NaN stays one
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace tilewright
