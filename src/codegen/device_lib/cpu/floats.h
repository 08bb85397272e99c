// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/floats.h — f32 and f64: the smaller and the larger, division, reductions.
#pragma once

namespace tw {

// Toward zero.
TW_ALWAYS inline f32 to_f32_rtz(f64 x) {
  const f32 near = f32(x);
  const bool is_large = __builtin_fabs(f64(near)) > __builtin_fabs(x);
  return is_large ? bit_cast<f32>(bit_cast<u32>(near) - 1) : near;
}

// ---- The smaller and the larger: `_number` prefers a number to NaN, `_nan` keeps NaN.

template <class T>
TW_ALWAYS inline T larger(T a, T b) {
  const T bigger = a > b ? a : b;
  return b == b ? bigger : a;
}
template <class T>
TW_ALWAYS inline T smaller(T a, T b) {
  const T lower = a < b ? a : b;
  return b == b ? lower : a;
}
TW_ALWAYS inline f32 max_number(f32 a, f32 b) { return larger(a, b); }
TW_ALWAYS inline f64 max_number(f64 a, f64 b) { return larger(a, b); }
TW_ALWAYS inline f32 min_number(f32 a, f32 b) { return smaller(a, b); }
TW_ALWAYS inline f64 min_number(f64 a, f64 b) { return smaller(a, b); }
TW_ALWAYS inline f32 max_nan(f32 a, f32 b) { return a != a || a > b ? a : b; }
TW_ALWAYS inline f64 max_nan(f64 a, f64 b) { return a != a || a > b ? a : b; }
TW_ALWAYS inline f32 min_nan(f32 a, f32 b) { return a != a || a < b ? a : b; }
TW_ALWAYS inline f64 min_nan(f64 a, f64 b) { return a != a || a < b ? a : b; }

TW_ALWAYS inline f32 abs(f32 x) { return __builtin_fabsf(x); }
TW_ALWAYS inline f64 abs(f64 x) { return __builtin_fabs(x); }
TW_ALWAYS inline f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
TW_ALWAYS inline f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
TW_ALWAYS inline f32 fmod(f32 a, f32 b) { return __builtin_fmodf(a, b); }
TW_ALWAYS inline f64 fmod(f64 a, f64 b) { return __builtin_fmod(a, b); }
TW_ALWAYS inline f32 divide_fast(f32 a, f32 b) { return a / b; }

// Divides many numbers by one: off by at most 1.5 ulp. The scale, a power of two, keeps the inverse of
// the smallest and the largest numbers in range. It comes last, also where it is 1, which compilers
// must not know: that product is exact, so that the quotient is the same number where it is fused
// with a sum.
struct Divisor {
  f32 inverse, scale;
  Divisor() = default;
  explicit Divisor(f32 b) {
    const f32 size = __builtin_fabsf(b);
    f32 power = size < 0x1p-126f ? 0x1p24f : size > 0x1p126f ? 0x1p-2f : 1.0f;
    inverse = 1.0f / (b * power);
    asm("" : "+m"(power));
    scale = power;
  }
  f32 divide(f32 a) const { return a * inverse * scale; }
};
// The same for numbers whose inverse is surely in range, as the sum of a softmax's powers is, and for
// quotients that are no terms of sums.
struct PlainDivisor {
  f32 inverse;
  PlainDivisor() = default;
  explicit PlainDivisor(f32 b) : inverse(1.0f / b) {}
  f32 divide(f32 a) const { return a * inverse; }
};

}  // namespace tw

// Reductions in vector registers: each lane combines its own elements, then the lanes combine.
// The language's own sum begins as 0, which makes 0 of a sum of -0.
#pragma omp declare reduction(tw_sum : f32, f64 : omp_out = omp_out + omp_in) \
    initializer(omp_priv = -0.0f)
#pragma omp declare reduction(tw_max_number                                \
                              : f32, f64                                   \
                              : omp_out = tw::max_number(omp_out, omp_in)) \
    initializer(omp_priv = tw::nan <f32>())
#pragma omp declare reduction(tw_min_number                                \
                              : f32, f64                                   \
                              : omp_out = tw::min_number(omp_out, omp_in)) \
    initializer(omp_priv = tw::nan <f32>())
#pragma omp declare reduction(tw_max_nan                                \
                              : f32, f64                                \
                              : omp_out = tw::max_nan(omp_out, omp_in)) \
    initializer(omp_priv = -tw::inf <f32>())
#pragma omp declare reduction(tw_min_nan                                \
                              : f32, f64                                \
                              : omp_out = tw::min_nan(omp_out, omp_in)) \
    initializer(omp_priv = tw::inf <f32>())
