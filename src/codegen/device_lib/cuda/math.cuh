// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/math.cuh — the functions of ir/math.def. f32 uses the special-function unit where
// the error stays within a few units in the last place; short floats compute in f32.

namespace tw {
namespace fast {

TW_DEVICE f32 exp(f32 x) { return ptx::ex2(x * 1.4426950408889634f); }
TW_DEVICE f32 exp2(f32 x) { return ptx::ex2(x); }
// Close to 1 the unit's error is absolute, not relative: the series of log1p takes over there.
TW_DEVICE f32 log(f32 x) { return ::logf(x); }
TW_DEVICE f32 log2(f32 x) { return ::log2f(x); }
TW_DEVICE f32 sqrt(f32 x) { return ::sqrtf(x); }
TW_DEVICE f32 rsqrt(f32 x) { return ptx::rsqrt(x); }

// 1 - 2 / (exp(2x) + 1) away from 0, an odd polynomial near it: about 2 ulp.
TW_DEVICE f32 tanh(f32 x) {
  const f32 magnitude = fabsf(x);
  const f32 square = x * x;
  f32 p = fmaf(-0.00570498733f, square, 0.020639088f);
  p = fmaf(p, square, -0.0537397154f);
  p = fmaf(p, square, 0.133314416f);
  p = fmaf(p, square, -0.333332807f);
  const f32 near_zero = fmaf(p * square, x, x);
  const f32 e = ptx::ex2(magnitude * 2.885390081777927f);
  const f32 away = fmaf(-2.0f, ptx::rcp(e + 1.0f), 1.0f);
  return copysignf(magnitude < 0.625f ? near_zero : away, x);  // of -0 too
}

TW_DEVICE f32 erf(f32 x) {
  const f32 magnitude = fabsf(x);
  const f32 square = x * x;
  f32 q = fmaf(-0.000563143753f, square, 0.00491755549f);
  q = fmaf(q, square, -0.0267113149f);
  q = fmaf(q, square, 0.112801805f);
  q = fmaf(q, square, -0.37612325f);
  q = fmaf(q, square, 1.12837911f);
  f32 r = fmaf(-0.00165970856f, magnitude, 0.0213203225f);
  r = fmaf(r, magnitude, -0.127872095f);
  r = fmaf(r, magnitude, -0.944227934f);
  r = fmaf(r, magnitude, -1.61212301f);
  r = fmaf(r, magnitude, -0.00385445007f);
  const f32 tail = magnitude < 4.0f ? 1.0f - ptx::ex2(r) : (x != x ? x : 1.0f);
  return magnitude < 1.0f ? x * q : copysignf(tail, x);
}

}  // namespace fast

// name(x) for f32 by `single`, for f64 by `wide`, for short floats by f32.
#define TW_FUNCTION(name, single, wide)                                     \
  template <class T>                                                        \
  TW_DEVICE T name(T x) {                                                   \
    if constexpr (is_same<T, f32>) return single(x);                        \
    else if constexpr (is_same<T, f64>) return wide(x);                     \
    else return from_f32<T>(single(to_f32(x)));                             \
  }
TW_FUNCTION(exp, fast::exp, ::exp)
TW_FUNCTION(exp2, fast::exp2, ::exp2)
TW_FUNCTION(expm1, ::expm1f, ::expm1)
TW_FUNCTION(log, fast::log, ::log)
TW_FUNCTION(log2, fast::log2, ::log2)
TW_FUNCTION(log10, ::log10f, ::log10)
TW_FUNCTION(log1p, ::log1pf, ::log1p)
TW_FUNCTION(sqrt, fast::sqrt, ::sqrt)
TW_FUNCTION(sqrt_rn, __fsqrt_rn, __dsqrt_rn)
TW_FUNCTION(rsqrt, fast::rsqrt, ::rsqrt)
TW_FUNCTION(cbrt, ::cbrtf, ::cbrt)
TW_FUNCTION(sin, ::sinf, ::sin)
TW_FUNCTION(cos, ::cosf, ::cos)
TW_FUNCTION(tan, ::tanf, ::tan)
TW_FUNCTION(asin, ::asinf, ::asin)
TW_FUNCTION(acos, ::acosf, ::acos)
TW_FUNCTION(atan, ::atanf, ::atan)
TW_FUNCTION(sinh, ::sinhf, ::sinh)
TW_FUNCTION(cosh, ::coshf, ::cosh)
TW_FUNCTION(tanh, fast::tanh, ::tanh)
TW_FUNCTION(asinh, ::asinhf, ::asinh)
TW_FUNCTION(acosh, ::acoshf, ::acosh)
TW_FUNCTION(atanh, ::atanhf, ::atanh)
TW_FUNCTION(erf, fast::erf, ::erf)
TW_FUNCTION(erfc, ::erfcf, ::erfc)
TW_FUNCTION(lgamma, ::lgammaf, ::lgamma)
TW_FUNCTION(tgamma, ::tgammaf, ::tgamma)
TW_FUNCTION(j0, ::j0f, ::j0)
TW_FUNCTION(j1, ::j1f, ::j1)
TW_FUNCTION(y0, ::y0f, ::y0)
TW_FUNCTION(y1, ::y1f, ::y1)
TW_FUNCTION(cyl_bessel_i0, ::cyl_bessel_i0f, ::cyl_bessel_i0)
TW_FUNCTION(cyl_bessel_i1, ::cyl_bessel_i1f, ::cyl_bessel_i1)
TW_FUNCTION(floor, ::floorf, ::floor)
TW_FUNCTION(ceil, ::ceilf, ::ceil)
TW_FUNCTION(trunc, ::truncf, ::trunc)
TW_FUNCTION(round, ::roundf, ::round)
TW_FUNCTION(rint, ::rintf, ::rint)
#undef TW_FUNCTION

// By Newton's method on erf from Winitzki's approximation.
TW_DEVICE f64 inverse_erf(f64 x) {
  if (x <= -1 || x >= 1) return x == 1 || x == -1 ? x * (1.0 / 0.0) : 0.0 / 0.0;
  const f64 l = ::log1p(-x * x);
  const f64 t = 4.330746750799873 + 0.5 * l;
  f64 y = ::copysign(::sqrt(::sqrt(t * t - l / 0.147) - t), x);
  for (int step = 0; step < 4; ++step) {
    const f64 error = x > 0.5    ? (1 - x) - ::erfc(y)
                      : x < -0.5 ? ::erfc(-y) - (1 + x)
                                 : ::erf(y) - x;
    y -= error / (1.1283791670955126 * ::exp(-y * y));
  }
  return y;
}
template <class T>
TW_DEVICE T erfinv(T x) {
  return cast<T>(inverse_erf(cast<f64>(x)));
}

#define TW_FUNCTION(name, single, wide)                                     \
  template <class T>                                                        \
  TW_DEVICE T name(T x, T y) {                                              \
    if constexpr (is_same<T, f32>) return single(x, y);                     \
    else if constexpr (is_same<T, f64>) return wide(x, y);                  \
    else return from_f32<T>(single(to_f32(x), to_f32(y)));                  \
  }
TW_FUNCTION(atan2, ::atan2f, ::atan2)
TW_FUNCTION(pow, ::powf, ::pow)
TW_FUNCTION(hypot, ::hypotf, ::hypot)
TW_FUNCTION(copysign, ::copysignf, ::copysign)
TW_FUNCTION(nextafter, ::nextafterf, ::nextafter)
#undef TW_FUNCTION

template <class T>
TW_DEVICE bool isnan(T x) {
  return x != x;
}
template <class T>
TW_DEVICE bool isfinite(T x) {
  if constexpr (IsShort<T>::value) return isfinite(to_f32(x));
  else return x - x == T(0);
}
template <class T>
TW_DEVICE bool isinf(T x) {
  return !isnan(x) && !isfinite(x);
}
template <class T>
TW_DEVICE bool signbit(T x) {
  if constexpr (is_same<T, f32>) return bit_cast<u32>(x) >> 31;
  else if constexpr (is_same<T, f64>) return bit_cast<u64>(x) >> 63;
  else return x.bits >> (bits_of<T> - 1);
}

}  // namespace tw
