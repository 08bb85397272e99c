// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/math.h — math functions. Those that kernels use in hot loops are polynomials
// without branches or tables, which a compiler turns into vector code; the others are those of the
// C library.
//
// The most that they and those of exponentials.h are off, in ulp, over all f32
// (`bench/vector_math_ulp` measures it and reads the limits here; of pow over many pairs):
//   cos 1.6   exp2 0.9      log10 1.1  rsqrt 1.5  tanh 1.4
//   erf 1.2   exp_plus 1.5  log2 1.2   sin 1.6
//   exp 1.0   log 1.0       pow 0.6    sqrt 0.5
#pragma once

namespace tw {

// ---- Sine and cosine: the argument in quarters of a circle, in double.

struct Quarter {
  f32 r;  // beyond the nearest whole quarter
  i32 n;  // whole quarters, modulo 4
};
// Large arguments are m * 2^21, m * 2^42, ... and the quarters in such a power count modulo 4.
TW_ALWAYS inline Quarter quarter(f32 x) {
  const f32 size = __builtin_fabsf(x);
  const bool a = size >= 0x1p45f, b = size >= 0x1p66f, c = size >= 0x1p87f, d = size >= 0x1p108f;
  const f64 m = x * (d ? 0x1p-84f : c ? 0x1p-63f : b ? 0x1p-42f : a ? 0x1p-21f : 1.0f);
  const f64 quarters = d   ? 0x1.7d1f534ddc0dbp+0
                       : c ? 0x1.fc2757d1f534ep-1
                       : b ? 0x1.1054a7f09d5f4p+0
                       : a ? 0x1.b727220a94fe1p-2
                           : 0x1.45f306dc9c883p-1;
  const f64 rest = d   ? 0x1.8a5664f10e410p-54
                   : c ? -0x1.1f924eb53361ep-56
                   : b ? 0x1.f534ddc0db629p-54
                   : a ? 0x1.d5f47d4d37703p-57
                       : -0x1.6b01ec5417056p-55;
  const f64 high = m * quarters;
  const f64 low = __builtin_fma(m, rest, __builtin_fma(m, quarters, -high));
  const f64 magic = 0x1.8p52;
  const f64 shifted = high + magic;
  const f64 r = ((high - (shifted - magic)) + low) * 0x1.921fb54442d18p+0;
  return {f32(r), i32(bit_cast<i64>(shifted))};
}
TW_ALWAYS inline f32 sin_or_cos(f32 r, i32 n) {
  const f32 s = r * r;
  f32 p = 2.724686872e-6f;
  p = __builtin_fmaf(p, s, -0.0001984006304f);
  p = __builtin_fmaf(p, s, 0.008333331831f);
  p = __builtin_fmaf(p, s, -0.1666666666f);
  const f32 sine = __builtin_fmaf(p * s, r, r);
  f32 q = -2.729840765e-7f;
  q = __builtin_fmaf(q, s, 2.48005806e-5f);
  q = __builtin_fmaf(q, s, -0.001388888764f);
  q = __builtin_fmaf(q, s, 0.04166666666f);
  const f32 cosine = __builtin_fmaf(s * s, q, __builtin_fmaf(s, -0.5f, 1.0f));
  const f32 y = n & 1 ? cosine : sine;
  return n & 2 ? -y : y;
}
TW_ALWAYS inline f32 sin(f32 x) {
  const Quarter at = quarter(x);
  return x == 0 ? x : sin_or_cos(at.r, at.n);  // the rest of -0 is 0
}
TW_ALWAYS inline f32 cos(f32 x) {
  const Quarter at = quarter(x);
  return sin_or_cos(at.r, at.n + 1);
}

// ---- Any power, in double: 2^(y log2 |x|)

// log2 of a magnitude: t / (t + 2) is half the odd part of the logarithm of 1 + t.
TW_ALWAYS inline f64 wide_log2(f32 magnitude) {
  const LogParts parts = log_parts(magnitude);
  const f64 t = parts.t;
  const f64 s = t / (t + 2), z = s * s;
  f64 p = 0x1.21b245a850e1dp-2;
  p = __builtin_fma(p, z, 0x1.4795463b406c3p-2);
  p = __builtin_fma(p, z, 0x1.a61a2ef4051f3p-2);
  p = __builtin_fma(p, z, 0x1.2776c2935a8c1p-1);
  p = __builtin_fma(p, z, 0x1.ec709dc53bfcfp-1);
  p = __builtin_fma(p, z, 0x1.71547652b8251p+1);
  const f32 finite = magnitude == 0 ? -inf<f32>() : parts.n;
  return __builtin_fma(s, p, f64(magnitude < inf<f32>() ? finite : magnitude));
}
TW_ALWAYS inline f32 wide_exp2(f64 x) {
  const f64 above = -160 > x ? -160.0 : x;
  const f64 inside = 130 < above ? 130.0 : above;
  const f64 magic = 0x1.8p52;
  const f64 shifted = inside + magic;
  const f64 r = inside - (shifted - magic);
  f64 p = 0x1.00c0e4e15189cp-16;
  p = __builtin_fma(p, r, 0x1.446c79efd4834p-13);
  p = __builtin_fma(p, r, 0x1.5d877598350dep-10);
  p = __builtin_fma(p, r, 0x1.3b29d8bb0b97ep-7);
  p = __builtin_fma(p, r, 0x1.c6b08da70cce3p-5);
  p = __builtin_fma(p, r, 0x1.ebfbe0aa03df0p-3);
  p = __builtin_fma(p, r, 0x1.62e42fef9cc69p-1);
  p = __builtin_fma(p, r, 0x1.ffffffffa7135p-1);
  return f32(p * bit_cast<f64>((bit_cast<u64>(shifted) + 1023) << 52));
}
TW_ALWAYS inline f32 pow(f32 x, f32 y) {
  const f32 size = wide_exp2(f64(y) * wide_log2(__builtin_fabsf(x)));
  // Negative numbers have whole powers only; the odd ones keep the sign.
  const f32 half = y * 0.5f;
  const bool is_whole = __builtin_truncf(y) == y;
  const bool is_odd = is_whole & (__builtin_truncf(half) != half);
  const u32 sign = is_odd ? bit_cast<u32>(x) & 0x80000000u : 0u;
  const f32 real = bit_cast<f32>(bit_cast<u32>(size) | sign);
  const bool has_none = (x < 0) & (x > -inf<f32>()) & !is_whole;
  const bool is_one = (y == 0) | (x == 1) | ((x == -1) & (__builtin_fabsf(y) == inf<f32>()));
  return is_one ? 1.0f : has_none ? nan<f32>() : real;
}

// ---- Whole numbers

TW_ALWAYS inline f32 floor(f32 x) { return __builtin_floorf(x); }
TW_ALWAYS inline f64 floor(f64 x) { return __builtin_floor(x); }
TW_ALWAYS inline f32 ceil(f32 x) { return __builtin_ceilf(x); }
TW_ALWAYS inline f64 ceil(f64 x) { return __builtin_ceil(x); }
TW_ALWAYS inline f32 trunc(f32 x) { return __builtin_truncf(x); }
TW_ALWAYS inline f64 trunc(f64 x) { return __builtin_trunc(x); }
TW_ALWAYS inline f32 rint(f32 x) { return __builtin_rintf(x); }
TW_ALWAYS inline f64 rint(f64 x) { return __builtin_rint(x); }
TW_ALWAYS inline f32 round(f32 x) {
  const f32 whole = __builtin_truncf(x);
  const f32 away = __builtin_fabsf(x - whole) >= 0.5f ? 1.0f : 0.0f;
  return __builtin_copysignf(__builtin_fabsf(whole) + away, x);
}
TW_ALWAYS inline f64 round(f64 x) { return __builtin_round(x); }
TW_ALWAYS inline f32 copysign(f32 x, f32 y) { return __builtin_copysignf(x, y); }
TW_ALWAYS inline f64 copysign(f64 x, f64 y) { return __builtin_copysign(x, y); }

// ---- Tests

TW_ALWAYS inline i32 isnan(f32 x) { return x != x; }
TW_ALWAYS inline i32 isnan(f64 x) { return x != x; }
TW_ALWAYS inline i32 isinf(f32 x) { return __builtin_fabsf(x) == inf<f32>(); }
TW_ALWAYS inline i32 isinf(f64 x) { return __builtin_fabs(x) == inf<f64>(); }
TW_ALWAYS inline i32 isfinite(f32 x) { return __builtin_fabsf(x) < inf<f32>(); }
TW_ALWAYS inline i32 isfinite(f64 x) { return __builtin_fabs(x) < inf<f64>(); }
TW_ALWAYS inline i32 signbit(f32 x) { return i32(bit_cast<u32>(x) >> 31); }
TW_ALWAYS inline i32 signbit(f64 x) { return i32(bit_cast<u64>(x) >> 63); }

// ---- From the C library

#define TW_LIBRARY_F64(name) \
  TW_ALWAYS inline f64 name(f64 x) { return __builtin_##name(x); }
#define TW_LIBRARY(name)                                              \
  TW_ALWAYS inline f32 name(f32 x) { return __builtin_##name##f(x); } \
  TW_LIBRARY_F64(name)
#define TW_LIBRARY_2(name)                                                      \
  TW_ALWAYS inline f32 name(f32 x, f32 y) { return __builtin_##name##f(x, y); } \
  TW_ALWAYS inline f64 name(f64 x, f64 y) { return __builtin_##name(x, y); }

TW_LIBRARY_F64(exp)
TW_LIBRARY_F64(exp2)
TW_LIBRARY_F64(log)
TW_LIBRARY_F64(log2)
TW_LIBRARY_F64(log10)
TW_LIBRARY_F64(sqrt)
TW_LIBRARY_F64(tanh)
TW_LIBRARY_F64(erf)
TW_LIBRARY_F64(sin)
TW_LIBRARY_F64(cos)
TW_LIBRARY(expm1)
TW_LIBRARY(log1p)
TW_LIBRARY(cbrt)
TW_LIBRARY(tan)
TW_LIBRARY(asin)
TW_LIBRARY(acos)
TW_LIBRARY(atan)
TW_LIBRARY(sinh)
TW_LIBRARY(cosh)
TW_LIBRARY(asinh)
TW_LIBRARY(acosh)
TW_LIBRARY(atanh)
TW_LIBRARY(erfc)
TW_LIBRARY_F64(lgamma)
TW_LIBRARY_F64(tgamma)
TW_ALWAYS inline f32 lgamma(f32 x) {
  return f32(__builtin_lgamma(x));
}  // the library's own are 4 ulp off
TW_ALWAYS inline f32 tgamma(f32 x) { return f32(__builtin_tgamma(x)); }
TW_LIBRARY_2(atan2)
TW_ALWAYS inline f64 pow(f64 x, f64 y) { return __builtin_pow(x, y); }
TW_LIBRARY_2(hypot)
TW_LIBRARY_2(nextafter)
TW_ALWAYS inline f64 sqrt_rn(f64 x) { return __builtin_sqrt(x); }
TW_ALWAYS inline f64 rsqrt(f64 x) { return 1 / __builtin_sqrt(x); }

// The modified Bessel function of the first kind: its series, whose terms have one sign, and far from
// 0 its expansion by 1 / x.
inline double bessel_i(int order, double x) {
  const double a = __builtin_fabs(x);
  double sum = order == 0 ? 1 : a / 2;
  if (a < 25) {
    double term = sum;
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= a * a / 4 / (double(k) * (k + order));
      sum += term;
    }
  } else if (a < 1500) {
    double term = 1;
    sum = 1;
    for (int k = 1; k < 40 && __builtin_fabs(term) > 1e-17; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8.0 * k * a);
      sum += term;
    }
    const double power = __builtin_exp(a / 2);
    sum = power / __builtin_sqrt(6.283185307179586 * a) * sum * power;
  } else {
    sum = a * inf<f64>();
  }
  return order == 1 && x < 0 ? -sum : sum;
}
TW_ALWAYS inline f64 cyl_bessel_i0(f64 x) { return bessel_i(0, x); }
TW_ALWAYS inline f64 cyl_bessel_i1(f64 x) { return bessel_i(1, x); }
TW_ALWAYS inline f32 cyl_bessel_i0(f32 x) { return f32(bessel_i(0, x)); }
TW_ALWAYS inline f32 cyl_bessel_i1(f32 x) { return f32(bessel_i(1, x)); }
TW_LIBRARY_F64(j0)
TW_LIBRARY_F64(j1)
TW_LIBRARY_F64(y0)
TW_LIBRARY_F64(y1)
TW_ALWAYS inline f32 j0(f32 x) { return f32(__builtin_j0(x)); }
TW_ALWAYS inline f32 j1(f32 x) { return f32(__builtin_j1(x)); }
TW_ALWAYS inline f32 y0(f32 x) { return f32(__builtin_y0(x)); }
TW_ALWAYS inline f32 y1(f32 x) { return f32(__builtin_y1(x)); }

// The inverse of erf by Newton's method, on the side where no digits cancel.
TW_ALWAYS inline f64 erfinv(f64 x) {
  const f64 magnitude = __builtin_fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? x * inf<f64>() : nan<f64>();
  const f64 w = -__builtin_log((1 - magnitude) * (1 + magnitude));
  f64 y = magnitude < 0.7 ? 0.886226925452758 * magnitude : __builtin_sqrt(w) * 0.9;
  for (int step = 0; step < 60; ++step) {
    const f64 error =
        magnitude > 0.5 ? (1 - magnitude) - __builtin_erfc(y) : __builtin_erf(y) - magnitude;
    const f64 change = error / (1.1283791670955126 * __builtin_exp(-y * y));
    y -= change < -0.5 ? -0.5 : change > 0.5 ? 0.5 : change;
    if (__builtin_fabs(change) <= 1e-16 * y) break;
  }
  return __builtin_copysign(y, x);
}
TW_ALWAYS inline f32 erfinv(f32 x) { return f32(erfinv(f64(x))); }

}  // namespace tw
