// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/small_floats.h — f16, bf16 and the 8-bit floats: conversions without branches,
// which a compiler turns into vector code, and operators that round once. A file of its own: they
// cost a tenth of a small kernel's compile time.
#pragma once

namespace tw {

TW_ALWAYS inline f16 f16_bits(u16 bits) { return {bits}; }
TW_ALWAYS inline bf16 bf16_bits(u16 bits) { return {bits}; }
TW_ALWAYS inline f8e4m3 f8e4m3_bits(u8 bits) { return {bits}; }
TW_ALWAYS inline f8e5m2 f8e5m2_bits(u8 bits) { return {bits}; }

// A copy by its bits: g++ makes no vector code of copies of structs.
TW_ALWAYS inline f16 copy(const f16& x) { return {x.bits}; }
TW_ALWAYS inline bf16 copy(const bf16& x) { return {x.bits}; }
TW_ALWAYS inline f8e4m3 copy(const f8e4m3& x) { return {x.bits}; }
TW_ALWAYS inline f8e5m2 copy(const f8e5m2& x) { return {x.bits}; }

// ---- To f32, exactly.

TW_ALWAYS inline f32 to_f32(f16 x) {
  const u32 magnitude = u32(x.bits & 0x7fff) << 13;
  const u32 sign = u32(x.bits & 0x8000) << 16;
  // 2^112 brings the exponent from one bias to the other, below the normal numbers too.
  const u32 scaled = bit_cast<u32>(bit_cast<f32>(magnitude) * 0x1p112f);
  const u32 special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return bit_cast<f32>(scaled | special | sign);
}
TW_ALWAYS inline f32 to_f32(bf16 x) { return bit_cast<f32>(u32(x.bits) << 16); }
TW_ALWAYS inline f32 to_f32(f8e5m2 x) { return to_f32(f16{u16(u16(x.bits) << 8)}); }
TW_ALWAYS inline f32 to_f32(f8e4m3 x) {
  const u32 magnitude = u32(x.bits & 0x7f) << 20;
  const u32 sign = u32(x.bits & 0x80) << 24;
  const u32 scaled = bit_cast<u32>(bit_cast<f32>(magnitude) * 0x1p120f);
  const u32 special = magnitude == 0x07f00000u ? 0x7fc00000u : 0u;
  return bit_cast<f32>(scaled | special | sign);
}

// ---- From f32, to nearest even.

// `drop` bits fewer, an exponent bias smaller by `bias`; below the normal numbers (`tiny` on) an
// addition to `aligner` leaves the rounded bits at the lower end.
template <int drop, u32 bias, u32 tiny>
TW_ALWAYS inline u32 round_magnitude(u32 magnitude, f32 aligner) {
  const u32 normal =
      (magnitude + ((1u << (drop - 1)) - 1) + (magnitude >> drop & 1) - (bias << 23)) >> drop;
  const u32 subnormal = bit_cast<u32>(bit_cast<f32>(magnitude) + aligner) - bit_cast<u32>(aligner);
  return magnitude < tiny ? subnormal : normal;
}

TW_ALWAYS inline f16 to_f16(f32 x) {
  const u32 bits = bit_cast<u32>(x);
  const u32 magnitude = bits & 0x7fffffff;
  const u32 rounded = round_magnitude<13, 112, 0x38800000>(magnitude, 0.5f);
  const u32 finite = magnitude >= 0x47800000u ? 0x7c00u : rounded;
  return {u16((magnitude > 0x7f800000u ? 0x7e00u : finite) | (bits >> 16 & 0x8000))};
}
TW_ALWAYS inline bf16 to_bf16(f32 x) {
  const u32 bits = bit_cast<u32>(x);
  const u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {u16(x == x ? rounded : 0x7fffu)};
}
TW_ALWAYS inline f8e5m2 to_f8e5m2(f32 x) {
  const u32 bits = bit_cast<u32>(x);
  const u32 magnitude = bits & 0x7fffffff;
  const u32 rounded = round_magnitude<21, 112, 0x38800000>(magnitude, 128.0f);
  const u32 finite = magnitude >= 0x47800000u ? 0x7cu : rounded;
  return {u8((magnitude > 0x7f800000u ? 0x7fu : finite) | (bits >> 24 & 0x80))};
}
TW_ALWAYS inline f8e4m3 to_f8e4m3(f32 x) {
  const u32 bits = bit_cast<u32>(x);
  const u32 magnitude = bits & 0x7fffffff;
  const u32 rounded = round_magnitude<20, 120, 0x3c800000>(magnitude, 16384.0f);
  // There is no infinity: what is too large is no number.
  const u32 finite = magnitude >= 0x44000000u || rounded > 0x7e ? 0x7fu : rounded;
  return {u8(finite | (bits >> 24 & 0x80))};
}

// What is too large, infinity as well, is the largest number.
TW_ALWAYS inline f8e5m2 to_f8e5m2_saturate(f32 x) {
  const u8 bits = to_f8e5m2(x).bits;
  return {u8(bits - ((bits & 0x7f) == 0x7c ? 1 : 0))};
}
TW_ALWAYS inline f8e4m3 to_f8e4m3_saturate(f32 x) {
  const u8 bits = to_f8e4m3(x).bits;
  return {u8(bits - ((bits & 0x7f) == 0x7f && x == x ? 1 : 0))};
}

// ---- Many at once (lines.h).

TW_ALWAYS inline f16 round_one(f32 x, const f16*) { return to_f16(x); }
TW_ALWAYS inline bf16 round_one(f32 x, const bf16*) { return to_bf16(x); }
template <i64 count>
TW_ALWAYS inline void round_all(const f32 (&from)[count], f16* to) {
#pragma omp simd
  for (i64 k = 0; k < count; ++k) to[k] = to_f16(from[k]);
}
// `from` begins at a cache line. The instruction takes subnormal numbers for 0 and keeps the bits
// of a NaN; a block with such a number goes the way of all others.
template <i64 count>
TW_ALWAYS inline void round_all(const f32 (&from)[count], bf16* to) {
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
  typedef f32 Lanes __attribute__((vector_size(64), may_alias));
  typedef short Words __attribute__((vector_size(64), may_alias, aligned(2)));
  const auto* lanes = (const Lanes*)from;
  u32 odd = 0;
  for (i64 k = 0; k < count / 16; ++k) {
    u16 is_odd;  // NaN, or subnormal
    asm("vfpclassps $0xa1, %1, %0" : "=k"(is_odd) : "v"(lanes[k]));
    odd |= is_odd;
  }
  if (__builtin_expect(odd == 0, 1)) {
    for (i64 k = 0; k < count / 32; ++k) {
      Words words;
      asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(words) : "v"(lanes[2 * k]), "v"(lanes[2 * k + 1]));
      ((Words*)to)[k] = words;
    }
    return;
  }
#endif
#pragma omp simd
  for (i64 k = 0; k < count; ++k) to[k] = to_bf16(from[k]);
}

// ---- From f64, rounded once: first to f32 with the last bit set when something is lost.

TW_ALWAYS inline f32 to_odd(f64 x) {
  const f32 near = f32(x);
  const u32 bits = bit_cast<u32>(near);
  const bool is_exact = f64(near) == x || x != x;
  const bool is_large = __builtin_fabs(f64(near)) > __builtin_fabs(x);
  const bool is_infinite = (bits & 0x7fffffff) == 0x7f800000u;
  return is_exact || is_infinite ? near : bit_cast<f32>((bits - (is_large ? 1 : 0)) | 1);
}
TW_ALWAYS inline f8e5m2 to_f8e5m2_saturate(f64 x) { return to_f8e5m2_saturate(to_odd(x)); }
TW_ALWAYS inline f8e4m3 to_f8e4m3_saturate(f64 x) { return to_f8e4m3_saturate(to_odd(x)); }

// a * b + c, of which a * b is exact, to be rounded on to T. What f64 loses of the sum is less than
// T can tell, but of bf16, whose exponents go further than f64 has bits: its last bit is then set.
template <class T>
TW_ALWAYS inline f64 product_and(f64 product, f64 c) {
  return product + c;
}
template <>
TW_ALWAYS inline f64 product_and<bf16>(f64 product, f64 c) {
  const f64 sum = product + c;
  const f64 part = sum - product;
  const f64 error = (product - (sum - part)) + (c - part);
  const bool is_inexact = error < 0 || error > 0;
  const bool is_beyond = (error < 0) != (sum < 0);
  const u64 odd = (bit_cast<u64>(sum) - (is_beyond ? 1 : 0)) | 1;
  return is_inexact ? bit_cast<f64>(odd) : sum;
}

// ---- What all of them have.

#define TW_SMALL_FLOAT(type)                                                                  \
  TW_ALWAYS inline type to_##type(f64 x) { return to_##type(to_odd(x)); }                     \
  template <class T>                                                                          \
  TW_ALWAYS inline type to_##type##_rtz(T x) {                                                \
    type near = to_##type(x);                                                                 \
    const f64 back = __builtin_fabs(f64(to_f32(near)));                                       \
    const bool steps = !(back <= __builtin_fabs(f64(x))) && x == x;                           \
    near.bits = decltype(near.bits)(near.bits - (steps ? 1 : 0));                             \
    return near;                                                                              \
  }                                                                                           \
  TW_ALWAYS inline type abs(type x) {                                                         \
    return {decltype(x.bits)(x.bits & (decltype(x.bits)(-1) >> 1))};                          \
  }                                                                                           \
  TW_ALWAYS inline type fma(type a, type b, type c) {                                         \
    return to_##type(product_and<type>(f64(to_f32(a)) * f64(to_f32(b)), f64(to_f32(c))));     \
  }                                                                                           \
  TW_ALWAYS inline type fmod(type a, type b) {                                                \
    return to_##type(__builtin_fmodf(to_f32(a), to_f32(b)));                                  \
  }                                                                                           \
  TW_ALWAYS inline type min_number(type a, type b) {                                          \
    return to_##type(min_number(to_f32(a), to_f32(b)));                                       \
  }                                                                                           \
  TW_ALWAYS inline type max_number(type a, type b) {                                          \
    return to_##type(max_number(to_f32(a), to_f32(b)));                                       \
  }                                                                                           \
  TW_ALWAYS inline type min_nan(type a, type b) {                                             \
    return to_##type(min_nan(to_f32(a), to_f32(b)));                                          \
  }                                                                                           \
  TW_ALWAYS inline type max_nan(type a, type b) {                                             \
    return to_##type(max_nan(to_f32(a), to_f32(b)));                                          \
  }                                                                                           \
  }                                                                                           \
  TW_ALWAYS inline type operator+(type a, type b) {                                           \
    return tw::to_##type(tw::to_f32(a) + tw::to_f32(b));                                      \
  }                                                                                           \
  TW_ALWAYS inline type operator-(type a, type b) {                                           \
    return tw::to_##type(tw::to_f32(a) - tw::to_f32(b));                                      \
  }                                                                                           \
  TW_ALWAYS inline type operator*(type a, type b) {                                           \
    return tw::to_##type(tw::to_f32(a) * tw::to_f32(b));                                      \
  }                                                                                           \
  TW_ALWAYS inline type operator/(type a, type b) {                                           \
    return tw::to_##type(tw::to_f32(a) / tw::to_f32(b));                                      \
  }                                                                                           \
  TW_ALWAYS inline type operator-(type a) {                                                   \
    return {decltype(a.bits)(a.bits ^ ~(decltype(a.bits)(-1) >> 1))};                         \
  }                                                                                           \
  TW_ALWAYS inline bool operator==(type a, type b) { return tw::to_f32(a) == tw::to_f32(b); } \
  TW_ALWAYS inline bool operator!=(type a, type b) { return tw::to_f32(a) != tw::to_f32(b); } \
  TW_ALWAYS inline bool operator<(type a, type b) { return tw::to_f32(a) < tw::to_f32(b); }   \
  TW_ALWAYS inline bool operator<=(type a, type b) { return tw::to_f32(a) <= tw::to_f32(b); } \
  TW_ALWAYS inline bool operator>(type a, type b) { return tw::to_f32(a) > tw::to_f32(b); }   \
  TW_ALWAYS inline bool operator>=(type a, type b) { return tw::to_f32(a) >= tw::to_f32(b); } \
  namespace tw {

TW_SMALL_FLOAT(f16)
TW_SMALL_FLOAT(bf16)
TW_SMALL_FLOAT(f8e4m3)
TW_SMALL_FLOAT(f8e5m2)

}  // namespace tw
