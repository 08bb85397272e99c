// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/types.cuh — element types and their conversions.
//
// Short floats are bits with a conversion to f32; their arithmetic is that of f32, rounded once.

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

namespace tw {

template <class To, class From>
TW_DEVICE To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace tw

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct f8e4m3 {
  u8 bits;
};
struct f8e5m2 {
  u8 bits;
};

namespace tw {

using Divisor = ptx::Divisor;

// ---- To f32: exact.

TW_DEVICE f32 to_f32(f16 x) { return ptx::f16_to_f32(x.bits); }
TW_DEVICE f32 to_f32(bf16 x) { return bit_cast<f32>(u32(x.bits) << 16); }
// e5m2 is the upper half of f16.
TW_DEVICE f32 to_f32(f8e5m2 x) { return ptx::f16_to_f32(u16(x.bits << 8)); }
TW_DEVICE f32 to_f32(f8e4m3 x) {
  const u32 sign = u32(x.bits & 0x80) << 24;
  const u32 magnitude = x.bits & 0x7f;
  if (magnitude == 0x7f) return bit_cast<f32>(sign | 0x7fc00000u);
  // 2^120 brings the exponent from this type's bias to that of f32, below the normal numbers too.
  const f32 scaled = bit_cast<f32>(magnitude << 20) * bit_cast<f32>(0x7b800000u);
  return bit_cast<f32>(sign | bit_cast<u32>(scaled));
}
template <class T>
TW_DEVICE f32 to_f32(T x) {
  return f32(x);
}

// ---- From f32: to the nearest, halves to even.

// A float of `Mantissa` bits and bias `Bias`; `First` is the first magnitude that is not finite and
// `Overflow` what stands for it.
template <int Mantissa, int Bias, u32 First, u32 Overflow, u32 NotANumber>
TW_DEVICE u32 narrow(f32 x) {
  const u32 magnitude = bit_cast<u32>(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return NotANumber;
  const int exponent = int(magnitude >> 23) - 127;
  constexpr int smallest = 1 - Bias;
  int dropped = 23 - Mantissa;
  if (exponent < smallest) dropped += smallest - exponent;
  if (dropped > 24) return 0;
  const u32 significand = (magnitude & 0x7fffffu) | (exponent > -127 ? 0x800000u : 0u);
  u32 out = (significand + (1u << (dropped - 1)) - 1 + (significand >> dropped & 1)) >> dropped;
  if (exponent >= smallest) out += u32(exponent + Bias - 1) << Mantissa;
  return magnitude == 0x7f800000u || out >= First ? Overflow : out;
}

TW_DEVICE f16 to_f16(f32 x) { return {ptx::f32_to_f16(x)}; }
TW_DEVICE bf16 to_bf16(f32 x) { return {ptx::f32_to_bf16(x)}; }
TW_DEVICE f8e4m3 to_f8e4m3(f32 x) {
  return {u8(narrow<3, 7, 0x7f, 0x7f, 0x7f>(x) | (bit_cast<u32>(x) >> 24 & 0x80))};
}
TW_DEVICE f8e5m2 to_f8e5m2(f32 x) {
  return {u8(narrow<2, 15, 0x7c, 0x7c, 0x7e>(x) | (bit_cast<u32>(x) >> 24 & 0x80))};
}
// What is too large, infinity as well, is the largest number.
TW_DEVICE f8e4m3 to_f8e4m3_saturate(f32 x) {
  return {u8(narrow<3, 7, 0x7f, 0x7e, 0x7f>(x) | (bit_cast<u32>(x) >> 24 & 0x80))};
}
TW_DEVICE f8e5m2 to_f8e5m2_saturate(f32 x) {
  return {u8(narrow<2, 15, 0x7c, 0x7b, 0x7e>(x) | (bit_cast<u32>(x) >> 24 & 0x80))};
}

// From f64, with one rounding: the nearest f32 toward zero with its last bit set where it is not
// exact rounds on to what f64 itself would.
TW_DEVICE f32 round_to_odd(f64 x) {
  const f32 near = f32(x);
  if (f64(near) == x || x != x) return near;
  u32 bits = bit_cast<u32>(near);
  const f64 magnitude = x < 0 ? -x : x;
  const f64 reached = near < 0 ? -f64(near) : f64(near);
  if (reached > magnitude) --bits;
  return bit_cast<f32>(bits | 1u);
}

template <class T>
struct IsShort {
  static constexpr bool value = false;
};
template <>
struct IsShort<f16> {
  static constexpr bool value = true;
};
template <>
struct IsShort<bf16> {
  static constexpr bool value = true;
};
template <>
struct IsShort<f8e4m3> {
  static constexpr bool value = true;
};
template <>
struct IsShort<f8e5m2> {
  static constexpr bool value = true;
};
template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

template <class T>
TW_DEVICE T from_f32(f32 x) {
  if constexpr (is_same<T, f16>) return to_f16(x);
  else if constexpr (is_same<T, bf16>) return to_bf16(x);
  else if constexpr (is_same<T, f8e4m3>) return to_f8e4m3(x);
  else if constexpr (is_same<T, f8e5m2>) return to_f8e5m2(x);
  else return T(x);
}

// Floats out of range give the nearest integer of the type, NaN gives 0.
template <class T>
TW_DEVICE T saturate(f64 x) {
  constexpr bool is_signed = T(-1) < T(0);
  constexpr int bits = int(sizeof(T)) * 8;
  constexpr T lowest = is_signed ? T(u64(1) << (bits - 1)) : T(0);
  constexpr T highest = T(~lowest);
  constexpr f64 end = is_signed ? f64(u64(1) << (bits - 1)) : 2.0 * f64(u64(1) << (bits - 1));
  if (x != x) return T(0);
  if (x >= end) return highest;
  if (x <= (is_signed ? -end : 0.0)) return lowest;
  return T(x);
}
// Without doubles, which some GPUs compute slowly: both ends are exact in f32.
template <class T>
TW_DEVICE T saturate(f32 x) {
  constexpr bool is_signed = T(-1) < T(0);
  constexpr int bits = int(sizeof(T)) * 8;
  constexpr T lowest = is_signed ? T(u64(1) << (bits - 1)) : T(0);
  constexpr T highest = T(~lowest);
  constexpr f32 end = is_signed ? f32(u64(1) << (bits - 1)) : 2.0f * f32(u64(1) << (bits - 1));
  if (x != x) return T(0);
  if (x >= end) return highest;
  if (x <= (is_signed ? -end : 0.0f)) return lowest;
  return T(x);
}

template <class T>
inline constexpr bool is_float = is_same<T, f32> || is_same<T, f64> || IsShort<T>::value;

// The value in another type; see the `cast` op.
template <class To, class From>
TW_DEVICE To cast(From x) {
  if constexpr (is_same<To, From>) return x;
  else if constexpr (IsShort<From>::value) return cast<To>(to_f32(x));
  else if constexpr (is_same<To, bool>) return x != From(0);
  else if constexpr (is_same<To, f16> && is_same<From, f64>) return f16{ptx::f64_to_f16(x)};
  else if constexpr (IsShort<To>::value && is_same<From, f64>) return from_f32<To>(round_to_odd(x));
  else if constexpr (IsShort<To>::value && is_same<From, f32>) return from_f32<To>(x);
  else if constexpr (IsShort<To>::value && sizeof(From) <= 2) return from_f32<To>(f32(x));
  else if constexpr (IsShort<To>::value) return from_f32<To>(round_to_odd(f64(x)));
  else if constexpr (is_float<From> && !is_float<To>) return saturate<To>(x);
  else return To(x);
}

// Toward zero.
template <class To, class From>
TW_DEVICE To cast_rtz(From x) {
  if constexpr (IsShort<From>::value) return cast_rtz<To>(to_f32(x));
  else if constexpr (is_same<From, f64> && is_same<To, f32>) {
    const f32 near = f32(x);
    if (x != x || !((near < 0 ? -f64(near) : f64(near)) > (x < 0 ? -x : x))) return near;
    return bit_cast<f32>(bit_cast<u32>(near) - 1);
  } else if constexpr (IsShort<To>::value) {
    To near = cast<To>(x);
    const f64 reached = to_f32(near);
    if (x == x && (reached < 0 ? -reached : reached) > (x < 0 ? -f64(x) : f64(x))) --near.bits;
    return near;
  } else {
    return cast<To>(x);
  }
}

// ---- The conversions by the names that generated text uses.

TW_DEVICE f16 to_f16(f64 x) { return cast<f16>(x); }
TW_DEVICE bf16 to_bf16(f64 x) { return cast<bf16>(x); }
TW_DEVICE f8e4m3 to_f8e4m3(f64 x) { return cast<f8e4m3>(x); }
TW_DEVICE f8e5m2 to_f8e5m2(f64 x) { return cast<f8e5m2>(x); }
TW_DEVICE f8e4m3 to_f8e4m3_saturate(f64 x) { return to_f8e4m3_saturate(round_to_odd(x)); }
TW_DEVICE f8e5m2 to_f8e5m2_saturate(f64 x) { return to_f8e5m2_saturate(round_to_odd(x)); }
template <class T>
TW_DEVICE f16 to_f16_rtz(T x) {
  return cast_rtz<f16>(x);
}
template <class T>
TW_DEVICE bf16 to_bf16_rtz(T x) {
  return cast_rtz<bf16>(x);
}
template <class T>
TW_DEVICE f8e4m3 to_f8e4m3_rtz(T x) {
  return cast_rtz<f8e4m3>(x);
}
template <class T>
TW_DEVICE f8e5m2 to_f8e5m2_rtz(T x) {
  return cast_rtz<f8e5m2>(x);
}
TW_DEVICE f32 to_f32_rtz(f64 x) { return cast_rtz<f32>(x); }
template <class To, class From>
TW_DEVICE To to_int(From x) {
  return saturate<To>(x);
}

// ---- Literals.

TW_DEVICE f16 f16_bits(u16 bits) { return {bits}; }
TW_DEVICE bf16 bf16_bits(u16 bits) { return {bits}; }
TW_DEVICE f8e4m3 f8e4m3_bits(u8 bits) { return {bits}; }
TW_DEVICE f8e5m2 f8e5m2_bits(u8 bits) { return {bits}; }
template <class T>
TW_DEVICE T inf() {
  if constexpr (is_same<T, f32>) return bit_cast<f32>(0x7f800000u);
  else return bit_cast<f64>(0x7ff0000000000000ull);
}
template <class T>
TW_DEVICE T nan() {
  if constexpr (is_same<T, f32>) return bit_cast<f32>(0x7fc00000u);
  else return bit_cast<f64>(0x7ff8000000000000ull);
}

}  // namespace tw

// ---- Arithmetic of short floats.

#define TW_BY_F32(type, sign) tw::from_f32<type>(tw::to_f32(a) sign tw::to_f32(b))
#define TW_NARROW_FLOAT(type)                                             \
  TW_DEVICE type operator+(type a, type b) { return TW_BY_F32(type, +); } \
  TW_DEVICE type operator-(type a, type b) { return TW_BY_F32(type, -); } \
  TW_DEVICE type operator*(type a, type b) { return TW_BY_F32(type, *); }
#define TW_HALF_FLOAT(type)                                                                  \
  TW_DEVICE type operator+(type a, type b) {                                                 \
    return {tw::ptx::plus_##type(a.bits, b.bits, [&] { return TW_BY_F32(type, +).bits; })};  \
  }                                                                                          \
  TW_DEVICE type operator-(type a, type b) {                                                 \
    return {tw::ptx::minus_##type(a.bits, b.bits, [&] { return TW_BY_F32(type, -).bits; })}; \
  }                                                                                          \
  TW_DEVICE type operator*(type a, type b) {                                                 \
    return {tw::ptx::times_##type(a.bits, b.bits, [&] { return TW_BY_F32(type, *).bits; })}; \
  }
TW_HALF_FLOAT(f16)
TW_HALF_FLOAT(bf16)
TW_NARROW_FLOAT(f8e4m3)
TW_NARROW_FLOAT(f8e5m2)
#undef TW_NARROW_FLOAT
#undef TW_HALF_FLOAT

#define TW_SHORT_FLOAT(type)                                                           \
  TW_DEVICE type operator/(type a, type b) { return TW_BY_F32(type, /); }              \
  TW_DEVICE type operator-(type a) {                                                   \
    constexpr u32 sign = 1u << (8 * sizeof(type) - 1);                                 \
    a.bits ^= sign;                                                                    \
    return a;                                                                          \
  }                                                                                    \
  TW_DEVICE bool operator==(type a, type b) { return tw::to_f32(a) == tw::to_f32(b); } \
  TW_DEVICE bool operator!=(type a, type b) { return tw::to_f32(a) != tw::to_f32(b); } \
  TW_DEVICE bool operator<(type a, type b) { return tw::to_f32(a) < tw::to_f32(b); }   \
  TW_DEVICE bool operator<=(type a, type b) { return tw::to_f32(a) <= tw::to_f32(b); } \
  TW_DEVICE bool operator>(type a, type b) { return tw::to_f32(a) > tw::to_f32(b); }   \
  TW_DEVICE bool operator>=(type a, type b) { return tw::to_f32(a) >= tw::to_f32(b); }
TW_SHORT_FLOAT(f16)
TW_SHORT_FLOAT(bf16)
TW_SHORT_FLOAT(f8e4m3)
TW_SHORT_FLOAT(f8e5m2)
#undef TW_SHORT_FLOAT
#undef TW_BY_F32
