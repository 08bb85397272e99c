// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/small_math.h — the functions of math.h for the small floats, by way of f32.
#pragma once

namespace tw {

#define TW_SMALL_MATH_OF(type, name) \
  TW_ALWAYS inline type name(type x) { return to_##type(name(to_f32(x))); }
#define TW_SMALL_MATH_2_OF(type, name) \
  TW_ALWAYS inline type name(type x, type y) { return to_##type(name(to_f32(x), to_f32(y))); }
#define TW_SMALL_TEST_OF(type, name) \
  TW_ALWAYS inline i32 name(type x) { return name(to_f32(x)); }
#define TW_SMALL(macro, name) \
  macro(f16, name) macro(bf16, name) macro(f8e4m3, name) macro(f8e5m2, name)
#define TW_SMALL_MATH(name) TW_SMALL(TW_SMALL_MATH_OF, name)
#define TW_SMALL_MATH_2(name) TW_SMALL(TW_SMALL_MATH_2_OF, name)
#define TW_SMALL_TEST(name) TW_SMALL(TW_SMALL_TEST_OF, name)

TW_SMALL_MATH(exp)
TW_SMALL_MATH(exp2)
TW_SMALL_MATH(expm1)
TW_SMALL_MATH(log)
TW_SMALL_MATH(log2)
TW_SMALL_MATH(log10)
TW_SMALL_MATH(log1p)
TW_SMALL_MATH(sqrt)
TW_SMALL_MATH(sqrt_rn)
TW_SMALL_MATH(rsqrt)
TW_SMALL_MATH(cbrt)
TW_SMALL_MATH(sin)
TW_SMALL_MATH(cos)
TW_SMALL_MATH(tan)
TW_SMALL_MATH(asin)
TW_SMALL_MATH(acos)
TW_SMALL_MATH(atan)
TW_SMALL_MATH(sinh)
TW_SMALL_MATH(cosh)
TW_SMALL_MATH(tanh)
TW_SMALL_MATH(asinh)
TW_SMALL_MATH(acosh)
TW_SMALL_MATH(atanh)
TW_SMALL_MATH(erf)
TW_SMALL_MATH(erfc)
TW_SMALL_MATH(erfinv)
TW_SMALL_MATH(lgamma)
TW_SMALL_MATH(tgamma)
TW_SMALL_MATH(j0)
TW_SMALL_MATH(j1)
TW_SMALL_MATH(y0)
TW_SMALL_MATH(y1)
TW_SMALL_MATH(cyl_bessel_i0)
TW_SMALL_MATH(cyl_bessel_i1)
TW_SMALL_MATH(floor)
TW_SMALL_MATH(ceil)
TW_SMALL_MATH(trunc)
TW_SMALL_MATH(round)
TW_SMALL_MATH(rint)
TW_SMALL_MATH_2(atan2)
TW_SMALL_MATH_2(pow)
TW_SMALL_MATH_2(hypot)
TW_SMALL_MATH_2(copysign)
TW_SMALL_MATH_2(nextafter)
TW_SMALL_TEST(isnan)
TW_SMALL_TEST(isinf)
TW_SMALL_TEST(isfinite)
TW_SMALL_TEST(signbit)

}  // namespace tw
