// SPDX-License-Identifier: Apache-2.0
// tilewright/dtype.h — element types: the enumeration, its facts, and value types for the small
// floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewright {

enum class DType : std::uint8_t {
  Float64,
  Float32,
  Float16,
  BFloat16,
  Float8E4M3,  // finite only, as in PyTorch's float8_e4m3fn: no infinity, one NaN pattern per sign
  Float8E5M2,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Bool,
};

inline constexpr int dtype_count = 15;

inline constexpr DType f64 = DType::Float64;
inline constexpr DType f32 = DType::Float32;
inline constexpr DType f16 = DType::Float16;
inline constexpr DType bf16 = DType::BFloat16;
inline constexpr DType f8e4m3 = DType::Float8E4M3;
inline constexpr DType f8e5m2 = DType::Float8E5M2;
inline constexpr DType i8 = DType::Int8;
inline constexpr DType i16 = DType::Int16;
inline constexpr DType i32 = DType::Int32;
inline constexpr DType i64 = DType::Int64;
inline constexpr DType u8 = DType::UInt8;
inline constexpr DType u16 = DType::UInt16;
inline constexpr DType u32 = DType::UInt32;
inline constexpr DType u64 = DType::UInt64;
inline constexpr DType b1 = DType::Bool;

std::size_t size_of(DType dtype);
std::string_view name_of(DType dtype);  // "float32", as PyTorch and NumPy call it
DType parse_dtype(
    std::string_view name);  // long and short names ("bfloat16", "bf16"); throws ArgumentError
bool is_floating(DType dtype);
bool is_integer(DType dtype);  // signed or unsigned; Bool is neither floating nor integer
bool is_signed(DType dtype);

// ---- Value types for the floats C++ has no name for. Conversions round to nearest, ties to even.

float half_to_float(std::uint16_t bits);
float bfloat16_to_float(std::uint16_t bits);
float float8_e4m3_to_float(std::uint8_t bits);
float float8_e5m2_to_float(std::uint8_t bits);
std::uint16_t float_to_half(float value);
std::uint16_t float_to_bfloat16(float value);
// Not saturating, as in PyTorch: values beyond the largest finite one become NaN in
// e4m3 (which has no infinity) and infinity in e5m2.
std::uint8_t float_to_float8_e4m3(float value);
std::uint8_t float_to_float8_e5m2(float value);

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  Half(float value) : bits(float_to_half(value)) {}
  operator float() const { return half_to_float(bits); }
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value) : bits(float_to_bfloat16(value)) {}
  operator float() const { return bfloat16_to_float(bits); }
};

struct Float8E4M3 {
  std::uint8_t bits = 0;
  Float8E4M3() = default;
  Float8E4M3(float value) : bits(float_to_float8_e4m3(value)) {}
  operator float() const { return float8_e4m3_to_float(bits); }
};

struct Float8E5M2 {
  std::uint8_t bits = 0;
  Float8E5M2() = default;
  Float8E5M2(float value) : bits(float_to_float8_e5m2(value)) {}
  operator float() const { return float8_e5m2_to_float(bits); }
};

// ---- From a C++ type to its DType: `dtype_of<float>`.

template <class T>
struct DTypeOf;  // a type without a specialisation is not an element type
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::Float64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::Float32;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::Float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::BFloat16;
};
template <>
struct DTypeOf<Float8E4M3> {
  static constexpr DType value = DType::Float8E4M3;
};
template <>
struct DTypeOf<Float8E5M2> {
  static constexpr DType value = DType::Float8E5M2;
};
template <>
struct DTypeOf<signed char> {
  static constexpr DType value = DType::Int8;
};
template <>
struct DTypeOf<char> {
  static constexpr DType value = DType::Int8;
};
template <>
struct DTypeOf<short> {
  static constexpr DType value = DType::Int16;
};
template <>
struct DTypeOf<int> {
  static constexpr DType value = DType::Int32;
};
template <>
struct DTypeOf<long> {
  static constexpr DType value = DType::Int64;
};
template <>
struct DTypeOf<long long> {
  static constexpr DType value = DType::Int64;
};
template <>
struct DTypeOf<unsigned char> {
  static constexpr DType value = DType::UInt8;
};
template <>
struct DTypeOf<unsigned short> {
  static constexpr DType value = DType::UInt16;
};
template <>
struct DTypeOf<unsigned int> {
  static constexpr DType value = DType::UInt32;
};
template <>
struct DTypeOf<unsigned long> {
  static constexpr DType value = DType::UInt64;
};
template <>
struct DTypeOf<unsigned long long> {
  static constexpr DType value = DType::UInt64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

template <class T>
concept Element = requires {
  DTypeOf<T>::value;
};

}  // namespace tilewright
