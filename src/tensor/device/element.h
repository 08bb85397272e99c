// SPDX-License-Identifier: Apache-2.0
// tensor/device/element.h — element types and the conversion between any two of them, for the host
// and for CUDA.
//
// Both compilers read this text (NVRTC with -default-device), so a conversion gives the same bits
// on every device; only the payload of a NaN may differ. It includes nothing, since NVRTC finds no
// standard header.
//
// The rules, where C++ or others leave a choice:
// - To a smaller float: rounds once, to nearest even, from the exact value (float64 and int64 too).
// - Float to integer: drops the fraction; out of range gives the nearest end of the range, NaN 0.
// - Integer to integer: wraps.
// - To bool: 0 is false, all else (NaN too) is true.
#pragma once

namespace tilewright::element {

// clang-format off
struct Float16 { unsigned short bits; };
struct BFloat16 { unsigned short bits; };
struct Float8E4M3 { unsigned char bits; };
struct Float8E5M2 { unsigned char bits; };
struct Bool { unsigned char bits; };   // any byte but 0 is true

// ---- Facts that <type_traits> and <limits> would give.

template <class T> inline constexpr bool is_small_float = false;
template <> inline constexpr bool is_small_float<Float16> = true;
template <> inline constexpr bool is_small_float<BFloat16> = true;
template <> inline constexpr bool is_small_float<Float8E4M3> = true;
template <> inline constexpr bool is_small_float<Float8E5M2> = true;

template <class T> inline constexpr bool is_native_float = false;
template <> inline constexpr bool is_native_float<float> = true;
template <> inline constexpr bool is_native_float<double> = true;

template <class T> inline constexpr bool is_bool = false;
template <> inline constexpr bool is_bool<Bool> = true;
// clang-format on

template <class T>
struct IntegerRange {
  static constexpr bool has_sign = static_cast<T>(-1) < static_cast<T>(1);
  static constexpr int value_bits = 8 * static_cast<int>(sizeof(T)) - (has_sign ? 1 : 0);
  static constexpr T max = static_cast<T>(~0ull >> (64 - value_bits));
  static constexpr T min = has_sign ? static_cast<T>(-max - 1) : static_cast<T>(0);
  static constexpr double above_max = 2.0 * static_cast<double>(1ull << (value_bits - 1));
};

inline unsigned int bits_of(float value) { return __builtin_bit_cast(unsigned int, value); }
inline float float_of(unsigned int bits) { return __builtin_bit_cast(float, bits); }

// ---- Small floats: E exponent bits, M mantissa bits; without infinity, all ones is NaN.

template <int E, int M, bool HasInfinity>
struct SmallFloat {
  static constexpr int bias = (1 << (E - 1)) - 1;
  static constexpr int dropped = 23 - M;
  static constexpr unsigned int infinity = ((1u << E) - 1) << M;
  static constexpr unsigned int nan = HasInfinity ? infinity | 1u << (M - 1) : (1u << (E + M)) - 1;
  static constexpr unsigned int first_not_finite = HasInfinity ? infinity : nan;
  static constexpr unsigned int one = static_cast<unsigned int>(bias) << M;

  static float widen(unsigned int bits) {
    const unsigned int sign = (bits >> (E + M)) << 31;
    const unsigned int magnitude = bits & ((1u << (E + M)) - 1);
    const unsigned int shifted = magnitude << dropped;
    if (magnitude >= first_not_finite)  // keeps a NaN's payload where the format has one
      return float_of(sign | (HasInfinity ? 0x7f800000u | shifted : 0x7fc00000u));
    if ((magnitude >> M) != 0) return float_of(sign | (shifted + ((127u - bias) << 23)));
    // A subnormal number: an integer times the smallest one, exact in float32.
    const float unit = float_of(static_cast<unsigned int>(127 + 1 - bias - M) << 23);
    return float_of(sign | bits_of(static_cast<float>(magnitude) * unit));
  }

  static unsigned int narrow(float value) {
    const unsigned int sign = (bits_of(value) >> 31) << (E + M);
    const unsigned int magnitude = bits_of(value) & 0x7fffffffu;
    constexpr unsigned int smallest_normal = (127u + 1 - bias) << 23;
    unsigned int out;
    if (magnitude >= smallest_normal) {
      const unsigned int rebased = magnitude - ((127u - bias) << 23);
      out = (rebased + ((1u << (dropped - 1)) - 1) + (rebased >> dropped & 1)) >> dropped;
    } else {
      // A float whose last bit is worth our smallest subnormal: adding it lets the adder round.
      const float magic = float_of((127u + 1 - bias + dropped) << 23);
      out = bits_of(float_of(magnitude) + magic) - bits_of(magic);
    }
    if (out >= first_not_finite) out = magnitude > 0x7f800000u || !HasInfinity ? nan : infinity;
    return sign | out;
  }
};

using Float16Format = SmallFloat<5, 10, true>;
using Float8E4M3Format = SmallFloat<4, 3, false>;
using Float8E5M2Format = SmallFloat<5, 2, true>;

inline unsigned short narrow_to_bfloat16(float value) {
  const unsigned int bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>(bits >> 16 | 0x40u);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <class T>
T narrow(float value);
template <>
inline Float16 narrow<Float16>(float v) {
  return {static_cast<unsigned short>(Float16Format::narrow(v))};
}
template <>
inline BFloat16 narrow<BFloat16>(float v) {
  return {narrow_to_bfloat16(v)};
}
template <>
inline Float8E4M3 narrow<Float8E4M3>(float v) {
  return {static_cast<unsigned char>(Float8E4M3Format::narrow(v))};
}
template <>
inline Float8E5M2 narrow<Float8E5M2>(float v) {
  return {static_cast<unsigned char>(Float8E5M2Format::narrow(v))};
}

// clang-format off
// The largest pattern below that of 1.0.
template <class T> inline constexpr unsigned int below_one = 0;
template <> inline constexpr unsigned int below_one<Float16> = Float16Format::one - 1;
template <> inline constexpr unsigned int below_one<BFloat16> = (127u << 7) - 1;
template <> inline constexpr unsigned int below_one<Float8E4M3> = Float8E4M3Format::one - 1;
template <> inline constexpr unsigned int below_one<Float8E5M2> = Float8E5M2Format::one - 1;
// clang-format on

// ---- The C++ value of an element, without loss.

template <class T>
T wide(T value) {
  return value;
}
inline float wide(Float16 v) { return Float16Format::widen(v.bits); }
inline float wide(BFloat16 v) { return float_of(static_cast<unsigned int>(v.bits) << 16); }
inline float wide(Float8E4M3 v) { return Float8E4M3Format::widen(v.bits); }
inline float wide(Float8E5M2 v) { return Float8E5M2Format::widen(v.bits); }
inline bool wide(Bool v) { return v.bits != 0; }

// ---- Rounding to odd: a value that is not a float32 becomes its neighbour with an odd last bit.
// That bit remembers "not exact", so that rounding the result once more, to a format with at most
// 22 bits, is as good as rounding once.

inline float odd_float(float value) { return value; }
inline float odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const unsigned int bits = bits_of(nearest);
  if (static_cast<double>(nearest) == value || value != value || (bits & 1u) != 0) return nearest;
  const bool is_too_large =
      (nearest < 0 ? -static_cast<double>(nearest) : nearest) > (value < 0 ? -value : value);
  return float_of(is_too_large ? bits - 1 : bits + 1);
}
inline float odd_float(unsigned long long value) {
  // 40 leading bits and one that remembers the rest fit a float64 exactly.
  if (value >> 40 != 0) value = (value >> 24 << 24) | ((value & 0xffffffull) != 0 ? 1ull << 24 : 0);
  return odd_float(static_cast<double>(value));
}
inline float odd_float(long long value) {
  if (value >= 0) return odd_float(static_cast<unsigned long long>(value));
  return -odd_float(0ull - static_cast<unsigned long long>(value));
}

template <class To, class From>
To clamp_to_integer(From value) {
  using Range = IntegerRange<To>;
  if (value != value) return 0;
  if (value < static_cast<From>(Range::min)) return Range::min;
  if (value >= static_cast<From>(Range::above_max)) return Range::max;
  return static_cast<To>(value);
}

// ---- The conversion itself.

template <class To, class From>
To convert(From element) {
  const auto value = wide(element);
  using Value = decltype(wide(element));
  if constexpr (is_bool<To>) {
    return {static_cast<unsigned char>(value != 0)};
  } else if constexpr (is_small_float<To>) {
    if constexpr (is_native_float<Value>) return narrow<To>(odd_float(value));
    else if constexpr (static_cast<Value>(-1) < static_cast<Value>(0))
      return narrow<To>(odd_float(static_cast<long long>(value)));
    else return narrow<To>(odd_float(static_cast<unsigned long long>(value)));
  } else if constexpr (is_native_float<Value> && !is_native_float<To>) {
    return clamp_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace tilewright::element
